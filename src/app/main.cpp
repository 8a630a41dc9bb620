#include <cstdio>
int main() { std::puts("trainvigil"); }
