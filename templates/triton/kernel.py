# How a kernel is framed, family by family. A tile is what one program works on at a time.
import triton
import triton.language as tl
from holes import KW_STATEMENTS


# Every element by itself: one tile of the flattened elements.
# skeleton elements
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = KW_NAME_i < KW_EXPRESSION_count
    KW_STATEMENTS(body)


# end


# One program goes over one row.
# skeleton row
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_point = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(body)


# end


# The same, with sums over rows that ride along: one program goes over its own, fixed share of the rows and has its own
# slice of each sum.
# skeleton sliced_row
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    worker = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(setup)
    first, last = KW_EXPRESSION_points * worker // workers, KW_EXPRESSION_points * (worker + 1) // workers
    for KW_NAME_point in range(first, last):
        KW_STATEMENTS(body)
    KW_STATEMENTS(slices)


# end


# One program reduces a tile of neighbouring columns.
# skeleton column
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    in_tile = KW_NAME_i < KW_EXPRESSION_size
    KW_STATEMENTS(body)


# end


# Everything is reduced to one value: each program takes every CHUNKS-th tile.
# skeleton whole
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    chunk = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(setup)
    for start in range(chunk * BLOCK, KW_EXPRESSION_count, CHUNKS * BLOCK):
        KW_NAME_i = start + tl.arange(0, BLOCK)
        mask = KW_NAME_i < KW_EXPRESSION_count
        KW_STATEMENTS(body)
    KW_STATEMENTS(parts)


# end


# What the programs of the former kernel found, in a fixed order.
# skeleton finish
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    chunk = tl.arange(0, CHUNKS)
    KW_STATEMENTS(body)


# end
