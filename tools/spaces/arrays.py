# SPDX-License-Identifier: Apache-2.0
"""The module of arrays for sums over all pairs of words: NumPy, or CuPy on a GPU.

CuPy has the functions of NumPy under the same names. `xp()` is the module to compute with, and
`host` brings an array back to NumPy.
"""
import numpy

MODULE = numpy


def use_gpu():
    global MODULE
    import cupy
    MODULE = cupy


def xp():
    return MODULE


def host(array):
    return array if isinstance(array, numpy.ndarray) else array.get()


def quick_product(a, b):
    """The product of two float32 matrices; on a GPU with 10 bits of each factor (TF32), which is
    several times as fast."""
    if MODULE is numpy:
        return a @ b
    from cupy._core import _routines_linalg as linalg
    before = linalg.get_compute_type(numpy.float32)
    linalg.set_compute_type(numpy.float32, linalg.COMPUTE_TYPE_TF32)
    try:
        return a @ b
    finally:
        linalg.set_compute_type(numpy.float32, before)


def sparse():
    """The module of sparse matrices that goes with xp()."""
    if xp() is numpy:
        import scipy.sparse
        return scipy.sparse
    import cupyx.scipy.sparse
    return cupyx.scipy.sparse


def stable_order(keys):
    """The order of each row; ties stay as they are. CuPy knows no other order."""
    return keys.argsort(axis=1, kind="stable") if xp() is numpy else keys.argsort(axis=1)
