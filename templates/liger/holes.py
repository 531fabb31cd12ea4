# What Python reads in the place of a skeleton's holes, so that every skeleton is legal as it stands.
def KW_STATEMENTS(hole):
    return hole
