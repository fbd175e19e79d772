#include <sys/prctl.h>

#include "cli/commands/commands.h"

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "souk");  // In a bundle it would be the loader's name.
  return souk::cli::run({argv + 1, argv + argc}, souk::cli::process_environment());
}
