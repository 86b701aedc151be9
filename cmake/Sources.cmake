# Written by scripts/checks/cmake-sources --write.
set(ERRAND_SOURCES
  Sources/CErrand/base/mem.c
  Sources/CErrand/base/status.c
  Sources/CErrand/loop/wheel.c
  Sources/CErrand/queue/submit_queue.c
)
