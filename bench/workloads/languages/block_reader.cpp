// Reader of block files (record_store/block_file.py): block_reader FILE IDS
//
// IDS has an id per line. Prints one line of JSON: the times of the dictionary and of the records,
// each of which is verified. Numbers are put together from bytes, so that the byte order of the
// machine does not matter.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr size_t kHeaderBytes = 32, kEntryBytes = 12, kSlotBytes = 128;
constexpr size_t kIdDigits = 10, kCrcBytes = 10;  // comma, eight digits, line feed

uint32_t number(const unsigned char* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

struct Times {
  double wall, cpu;
};

Times now() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(),
          static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}

uint32_t crc32(const unsigned char* bytes, size_t length) {
  static const auto table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t byte = 0; byte < made.size(); ++byte) {
      uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320U : 0);
      made[byte] = value;
    }
    return made;
  }();
  uint32_t value = ~0U;
  for (size_t at = 0; at < length; ++at) value = value >> 8 ^ table[(value ^ bytes[at]) & 255];
  return ~value;
}

class BlockFile {
 public:
  explicit BlockFile(const char* path) : file_(open(path, O_RDONLY)) {
    if (file_ < 0) throw std::runtime_error(std::string("cannot open ") + path);
    std::vector<unsigned char> header(kHeaderBytes);
    read(header, 0);
    if (std::memcmp(header.data(), "BSRECORD", 8) != 0 || number(&header[8]) != 1 ||
        number(&header[16]) != kSlotBytes)
      throw std::runtime_error("not a block file of version 1");
    block_bytes_ = number(&header[12]);
    const uint64_t blocks = number(&header[20]);
    records_ = number(&header[24]) | static_cast<uint64_t>(number(&header[28])) << 32;
    if (block_bytes_ < 512 || block_bytes_ % kSlotBytes != 0)
      throw std::runtime_error("the header has a wrong block size");
    const uint64_t data_blocks = (records_ * kSlotBytes + block_bytes_ - 1) / block_bytes_;
    data_offset_ = (1 + blocks) * block_bytes_;
    struct stat status {};
    if (fstat(file_, &status) != 0 ||
        static_cast<uint64_t>(status.st_size) != data_offset_ + data_blocks * block_bytes_)
      throw std::runtime_error("the file has not the size of its header");
    load(blocks);
    block_.resize(block_bytes_);
  }

  ~BlockFile() { close(file_); }

  // Reads and verifies a record.
  void check(uint32_t id) {
    const auto found = positions_.find(id);
    if (found == positions_.end()) throw std::runtime_error("no record " + std::to_string(id));
    const uint64_t block = found->second / block_bytes_;
    if (block != held_) {
      read(block_, data_offset_ + block * block_bytes_);
      held_ = block;
    }
    const unsigned char* record = &block_[found->second % block_bytes_];
    const auto* end = static_cast<const unsigned char*>(std::memchr(record, '\n', kSlotBytes));
    char expected[16];
    std::snprintf(expected, sizeof expected, "%010u", id);
    if (end == nullptr || std::memcmp(record, expected, kIdDigits) != 0)
      throw std::runtime_error("another record instead of " + std::to_string(id));
    const size_t content = end + 1 - record - kCrcBytes;
    std::snprintf(expected, sizeof expected, ",%08x\n", crc32(record, content));
    if (std::memcmp(record + content, expected, kCrcBytes) != 0)
      throw std::runtime_error("the CRC of the record " + std::to_string(id) + " is wrong");
  }

 private:
  void load(uint64_t blocks) {
    positions_.reserve(records_);
    std::vector<unsigned char> block(block_bytes_);
    uint64_t left = records_;
    for (uint64_t at = 1; at <= blocks; ++at) {
      read(block, at * block_bytes_);
      for (size_t entry = 0; left > 0 && entry + kEntryBytes <= block_bytes_;
           entry += kEntryBytes, --left) {
        const uint64_t position = number(&block[entry + 4]) * static_cast<uint64_t>(block_bytes_);
        positions_[number(&block[entry])] = position + number(&block[entry + 8]);
      }
    }
  }

  void read(std::vector<unsigned char>& into, uint64_t offset) const {
    if (pread(file_, into.data(), into.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(into.size()))
      throw std::runtime_error("the file ends early");
  }

  int file_;
  uint32_t block_bytes_ = 0;
  uint64_t records_ = 0, data_offset_ = 0, held_ = ~0ULL;
  std::unordered_map<uint32_t, uint64_t> positions_;
  std::vector<unsigned char> block_;
};

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) throw std::runtime_error("usage: block_reader FILE IDS");
  std::ifstream file(arguments[2]);
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; file >> id;) ids.push_back(id);
  const Times start = now();
  BlockFile records(arguments[1]);
  const Times loaded = now();
  for (const uint32_t id : ids) records.check(id);
  const Times done = now();
  std::printf(
      "{\"records\": %zu, \"load_seconds\": %.6f, \"load_cpu_seconds\": %.6f, "
      "\"fetch_seconds\": %.6f, \"fetch_cpu_seconds\": %.6f}\n",
      ids.size(), loaded.wall - start.wall, loaded.cpu - start.cpu, done.wall - loaded.wall,
      done.cpu - loaded.cpu);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
