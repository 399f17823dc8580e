// A program that knows nothing of MPI and runs a module that does, as interpreters do.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  using Main = int (*)(int, char**);
  const auto run = module == nullptr ? nullptr : reinterpret_cast<Main>(dlsym(module, "main"));
  if (run == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run(argc - 1, argv + 1);
}
