#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace souk::agent::testing {

// Runs programs in PTX, NVIDIA's text for GPUs, as far as those of agent/gpu need it: one block
// after the other, its threads in turn from barrier to barrier. Global addresses are addresses of
// this process. What it does not know ends the test.
class PtxMachine {
 public:
  struct Size {
    std::uint64_t x = 1, y = 1;
  };

  explicit PtxMachine(std::string_view text) {
    std::string bare;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const auto line = text.substr(at, end - at);
      bare += line.substr(0, line.find("//"));
      bare += ' ';
      at = end + 1;
    }
    for (std::size_t at = 0; (at = bare.find(".entry ", at)) != std::string::npos;) {
      const auto open = bare.find('(', at), body = bare.find('{', at);
      const auto end = bare.find("ret;", body) + 4;
      const auto name = std::string(base::trim(bare.substr(at + 7, open - at - 7)));
      parse(programs_[name], bare.substr(open + 1, bare.find(')', open) - open - 1),
            bare.substr(body + 1, end - body - 1));
      at = end;
    }
  }

  void run(const std::string& name, Size blocks, Size threads, std::vector<std::uint64_t> args) {
    const auto& program = programs_.at(name);
    CHECK(args.size() == program.params.size());
    for (std::uint64_t y = 0; y < blocks.y; ++y)
      for (std::uint64_t x = 0; x < blocks.x; ++x) run_block(program, {x, y}, threads, args);
  }

 private:
  using Words = std::vector<std::string>;
  // Of three operands; a result of 32 bits is cut to them.
  using Compute = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);
  struct Operand {
    bool in_register = false;
    std::uint64_t value = 0;  // Or the register's number.
  };
  struct Instruction {
    enum class Kind { end, wait, jump, load, store, add, compute } kind = Kind::compute;
    std::optional<std::size_t> guard;  // A register: done only if it is not 0.
    Compute compute = nullptr;
    bool wide = false;            // 64 bits.
    bool shared = false;          // Memory of the block.
    std::vector<std::size_t> to;  // Registers.
    std::vector<Operand> from;
    std::uint64_t offset = 0;
    std::size_t target = 0;
  };
  struct Program {
    Words params;
    std::vector<Instruction> code;
    std::map<std::string, std::size_t> registers;  // By name; parameters are among them.
    std::map<std::string, std::uint64_t> shared;   // Where each begins.
    std::uint64_t shared_bytes = 0;
  };
  struct Thread {
    std::vector<std::uint64_t> registers;
    std::size_t at = 0;
    bool done = false;
  };

  // Names and numbers, without what is between them.
  static Words words_of(std::string_view text) {
    Words out(1);
    for (const char c : text) {
      if (c == ' ' || c == ',' || c == '{' || c == '}' || c == '[' || c == ']') {
        if (!out.back().empty()) out.emplace_back();
      } else {
        out.back() += c;
      }
    }
    if (out.back().empty()) out.pop_back();
    return out;
  }

  static void parse(Program& program, const std::string& params, std::string body) {
    const auto declared = words_of(params);
    for (std::size_t i = 2; i < declared.size(); i += 3) program.params.push_back(declared[i]);
    std::ranges::replace(body, ':', ';');
    std::vector<Words> lines;
    std::map<std::string, std::size_t> labels;
    for (std::size_t at = 0; at < body.size();) {
      const auto end = std::min(body.find(';', at), body.size());
      const auto words = words_of(std::string_view(body).substr(at, end - at));
      at = end + 1;
      if (words.empty() || words[0] == ".reg") continue;
      if (words[0] == ".shared") {  // .shared .align 16 .b8 name[bytes]
        program.shared[words[4]] = program.shared_bytes;
        program.shared_bytes += std::stoull(words[5]);
      } else if (words.size() == 1 && words[0][0] == '$') {
        labels[words[0]] = lines.size();
      } else {
        lines.push_back(words);
      }
    }
    for (const auto& line : lines) program.code.push_back(decoded(program, line, labels));
  }

  static std::size_t register_of(Program& program, const std::string& name) {
    return program.registers.try_emplace(name, program.registers.size()).first->second;
  }
  static Operand operand_of(Program& program, const std::string& word) {
    if (word[0] == '%' || std::ranges::find(program.params, word) != program.params.end())
      return {true, register_of(program, word)};
    if (const auto it = program.shared.find(word); it != program.shared.end())
      return {false, it->second};
    return {false, std::strtoull(word.c_str(), nullptr, 0)};
  }

  static Instruction decoded(Program& program, Words words,
                             const std::map<std::string, std::size_t>& labels) {
    using Kind = Instruction::Kind;
    Instruction out;
    if (words[0][0] == '@') {
      out.guard = register_of(program, words[0].substr(1));
      words.erase(words.begin());
    }
    const auto& name = words[0];
    // A product of two numbers of 32 bits has 64.
    out.wide = name.ends_with("64") || name.starts_with("mul.wide");
    out.shared = name.find(".shared.") != std::string::npos;
    if (name == "ret") out.kind = Kind::end;
    if (name == "bar.sync") out.kind = Kind::wait;
    if (name == "bra") {
      out.kind = Kind::jump;
      out.target = labels.at(words[1]);
    }
    if (out.kind != Kind::compute) return out;
    const bool loads = name.starts_with("ld.") && !name.starts_with("ld.param");
    const bool stores = name.starts_with("st.") || name.starts_with("red.");
    const std::size_t results = stores ? 0 : name.find(".v4.") == std::string::npos ? 1 : 4;
    for (std::size_t i = 1; i <= results; ++i) out.to.push_back(register_of(program, words[i]));
    if (loads || stores) {
      out.kind = loads ? Kind::load : name.starts_with("st.") ? Kind::store : Kind::add;
      auto& place = words[1 + results];
      if (const auto plus = place.find('+'); plus != std::string::npos) {
        out.offset = std::stoull(place.substr(plus + 1));
        place.resize(plus);
      }
    }
    for (std::size_t i = 1 + results; i < words.size(); ++i)
      out.from.push_back(operand_of(program, words[i]));
    if (out.kind == Kind::compute) out.compute = compute_of(name, out.from.size());
    return out;
  }

  static Compute compute_of(const std::string& name, std::size_t operands) {
    using U = std::uint64_t;
    static const std::map<std::string, Compute, std::less<>> known = {
        {"ld.param", [](U a, U, U) { return a; }},
        {"mov", [](U a, U, U) { return a; }},
        {"cvta.to.global", [](U a, U, U) { return a; }},
        {"cvt.u64", [](U a, U, U) { return a; }},
        {"add", [](U a, U b, U) { return a + b; }},
        {"sub", [](U a, U b, U) { return a - b; }},
        {"mul.lo", [](U a, U b, U) { return a * b; }},
        {"mul.wide", [](U a, U b, U) { return a * b; }},
        {"mul.hi",
         [](U a, U b, U) { return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> 64); }},
        {"mad.lo", [](U a, U b, U c) { return a * b + c; }},
        {"shl", [](U a, U b, U) { return a << b; }},
        {"shr", [](U a, U b, U) { return a >> b; }},
        {"xor", [](U a, U b, U) { return a ^ b; }},
        {"and", [](U a, U b, U) { return a & b; }},
        {"or", [](U a, U b, U) { return a | b; }},
        {"setp.ge", [](U a, U b, U) { return static_cast<U>(a >= b); }},
        {"setp.ne", [](U a, U b, U) { return static_cast<U>(a != b); }}};
    if (name == "mov.b64" && operands == 2) return [](U a, U b, U) { return b << 32 | a; };
    const auto it = known.find(name.substr(0, name.rfind('.')));
    CHECK(it != known.end());
    return it->second;
  }

  void run_block(const Program& program, Size block, Size size,
                 const std::vector<std::uint64_t>& args) {
    shared_.assign(program.shared_bytes, 0);
    std::vector<Thread> threads(size.x * size.y);
    for (std::uint64_t i = 0; i < threads.size(); ++i) {
      auto& registers = threads[i].registers;
      registers.resize(program.registers.size());
      const auto set = [&](const std::string& name, std::uint64_t value) {
        if (const auto it = program.registers.find(name); it != program.registers.end())
          registers[it->second] = value;
      };
      set("%tid.x", i % size.x);
      set("%tid.y", i / size.x);
      set("%ntid.x", size.x);
      set("%ctaid.x", block.x);
      set("%ctaid.y", block.y);
      for (std::size_t p = 0; p < args.size(); ++p) set(program.params[p], args[p]);
    }
    for (bool running = true; running;) {
      running = false;
      for (auto& thread : threads) {
        while (!thread.done && step(program, thread)) {
        }
        running = running || !thread.done;
      }
    }
  }

  static std::uint64_t value(const Thread& t, const Operand& o) {
    return o.in_register ? t.registers[o.value] : o.value;
  }

  // False: it waits for the others, or it has ended.
  bool step(const Program& program, Thread& t) {
    const auto& i = program.code.at(t.at++);
    if (i.guard && t.registers[*i.guard] == 0) return true;
    switch (i.kind) {
      case Instruction::Kind::end:
        t.done = true;
        return false;
      case Instruction::Kind::wait:
        return false;
      case Instruction::Kind::jump:
        t.at = i.target;
        return true;
      case Instruction::Kind::compute: {
        const auto operand = [&](std::size_t n) {
          return n < i.from.size() ? value(t, i.from[n]) : 0;
        };
        const auto out = i.compute(operand(0), operand(1), operand(2));
        t.registers[i.to[0]] = i.wide ? out : out & 0xffffffff;
        return true;
      }
      default:
        access(t, i);
        return true;
    }
  }

  void access(Thread& t, const Instruction& i) {
    const bool loads = i.kind == Instruction::Kind::load;
    const std::size_t count = loads ? i.to.size() : i.from.size() - 1;
    const std::size_t width = i.wide ? 8 : 4;
    const auto at = value(t, i.from[0]) + i.offset;
    CHECK(at % (width * count) == 0);
    CHECK(!i.shared || at + width * count <= shared_.size());
    auto* memory = i.shared ? shared_.data() + at : reinterpret_cast<unsigned char*>(at);
    for (std::size_t n = 0; n < count; ++n, memory += width) {
      std::uint64_t word = 0;
      if (i.kind != Instruction::Kind::store) std::memcpy(&word, memory, width);
      if (loads) {
        t.registers[i.to[n]] = word;
        continue;
      }
      word += value(t, i.from[n + 1]);
      std::memcpy(memory, &word, width);
    }
  }

  std::map<std::string, Program> programs_;
  std::vector<unsigned char> shared_;
};

}  // namespace souk::agent::testing
