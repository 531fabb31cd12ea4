// The tests of the gates have them.
#include "../gates/kernel_file.cpp"
