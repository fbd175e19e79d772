#include "cli/commands/commands.h"

int main(int argc, char** argv) {
  return souk::cli::run({argv + 1, argv + argc}, souk::cli::process_environment());
}
