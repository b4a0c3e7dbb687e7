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
