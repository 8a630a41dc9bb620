// What a fuzz target holds true: unlike assert it stays in every build, and the finding says which promise was broken.
#pragma once

#include <cstdio>
#include <cstdlib>

#define PROMISE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)
