# How a kernel is framed, family by family. A tile is what one program works on at a time.
import triton
import triton.language as tl
from holes import KW_STATEMENTS


# Nothing but single values: one program.
# skeleton once
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_STATEMENTS(body)


# end


# Every element by itself: one tile of the flattened elements.
# skeleton elements
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = KW_NAME_i < KW_EXPRESSION_count
    KW_STATEMENTS(body)


# end


# The same in rows and columns, for tensors that lack one of them.
# skeleton element_tiles
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    tile = tl.program_id(0).to(tl.int64)
    KW_NAME_row = tile // tl.cdiv(KW_EXPRESSION_columns, BLOCK) * ROWS + tl.arange(0, ROWS)[:, None]
    first = (tile % tl.cdiv(KW_EXPRESSION_columns, BLOCK) * BLOCK).to(KW_EXPRESSION_index)
    KW_NAME_column = first + tl.arange(0, BLOCK)[None, :]
    mask = (KW_NAME_row < KW_EXPRESSION_rows) & (KW_NAME_column < KW_EXPRESSION_columns)
    KW_STATEMENTS(body)


# end


# Rows that one program holds whole; where they are short, several.
# skeleton rows
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    KW_NAME_column = tl.arange(0, BLOCK)[None, :]
    mask = (KW_NAME_row < KW_EXPRESSION_count) & (KW_NAME_column < KW_EXPRESSION_length)
    KW_STATEMENTS(body)


# end


# The same, with sums over rows that ride along: each program has its own, fixed share of the rows, and its own slice of
# each sum.
# skeleton rows_with_sums
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    worker = tl.program_id(0).to(tl.int64)
    KW_NAME_column = tl.arange(0, BLOCK)[None, :]
    KW_STATEMENTS(setup)
    for start in tl.range(worker * ROWS, KW_EXPRESSION_count, workers * ROWS, num_stages=STAGES):
        KW_NAME_row = start + tl.arange(0, ROWS)[:, None]
        mask = (KW_NAME_row < KW_EXPRESSION_count) & (KW_NAME_column < KW_EXPRESSION_length)
        KW_STATEMENTS(body)
    KW_STATEMENTS(ends)


# end


# One program goes over one row, tile by tile.
# skeleton row
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    KW_NAME_point = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(body)


# end


# The same, with sums over rows.
# skeleton row_with_sums
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    worker = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(setup)
    for KW_NAME_point in range(worker, KW_EXPRESSION_points, workers):
        KW_STATEMENTS(body)
    KW_STATEMENTS(ends)


# end


# One program reduces a tile of neighbouring columns.
# skeleton columns
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    tile = tl.program_id(0).to(tl.int64)
    KW_NAME_column = tile % tl.cdiv(KW_EXPRESSION_columns, BLOCK) * BLOCK + tl.arange(0, BLOCK)[None, :]
    KW_STATEMENTS(setup)
    KW_STATEMENTS(body)


# end


# Everything is reduced to one value: each program takes every tile whose number is its own modulo their number.
# skeleton whole
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    chunk = tl.program_id(0).to(tl.int64)
    KW_STATEMENTS(setup)
    for start in range(chunk * BLOCK, KW_EXPRESSION_count, chunks * BLOCK):
        KW_NAME_i = start + tl.arange(0, BLOCK)
        mask = KW_NAME_i < KW_EXPRESSION_count
        KW_STATEMENTS(body)
    KW_STATEMENTS(parts)


# end


# What the programs of the former kernel found, in a fixed order.
# skeleton whole_finish
@triton.jit
def KW_NAME_kernel(KW_LIST_parameters):
    chunk = tl.arange(0, CHUNKS)
    KW_STATEMENTS(body)


# end
