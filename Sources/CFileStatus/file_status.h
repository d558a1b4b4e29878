// The status of a file without its times, which Linux has a call for that the C library's headers only show to GNU
// programs.
//
// Asking for times isn't free: since Linux 6.13 a file whose times were looked at gets a new, finer one with its next
// change, and where a file system has no journal each sync then writes the inode as well.

#ifndef CAIRN_FILE_STATUS_H
#define CAIRN_FILE_STATUS_H

#include <errno.h>
#include <stdint.h>

struct cairn_file_status {
  uint64_t size;
  uint64_t inode;
  /// As `st_dev` has it.
  uint64_t device;
  uint64_t link_count;
  uint32_t mode;
};

#if defined(__linux__) && __has_include(<linux/stat.h>)

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/// Of the file at `path`, links followed; where `path` is empty, of the open file `descriptor`. Returns 0, or -1 with
/// the reason in `errno`: ENOSYS, or EPERM in some containers, where the system doesn't have the call.
static inline int cairn_file_status(int descriptor, const char *path, struct cairn_file_status *status) {
  // The C library names it for GNU programs only.
  const int empty_path = 0x1000;
  const unsigned int mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE;
  const int is_open = path[0] == 0;
  struct statx found;
  if (syscall(SYS_statx, is_open ? descriptor : AT_FDCWD, path, is_open ? empty_path : 0, mask, &found)) return -1;
  if ((found.stx_mask & mask) != mask) {
    errno = ENOSYS;
    return -1;
  }
  status->size = found.stx_size;
  status->inode = found.stx_ino;
  status->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  status->link_count = found.stx_nlink;
  status->mode = found.stx_mode;
  return 0;
}

#else

static inline int cairn_file_status(int descriptor, const char *path, struct cairn_file_status *status) {
  (void)descriptor, (void)path, (void)status;
  errno = ENOSYS;
  return -1;
}

#endif

#endif
