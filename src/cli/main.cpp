#include <cstdio>

int main() {
  std::puts("kw " KW_VERSION);
  return 0;
}
