# What Python reads in the place of a skeleton's holes, so that every skeleton is legal as it stands.
KW_EXPRESSION_grid = 0


def KW_STATEMENTS(hole):
    return hole
