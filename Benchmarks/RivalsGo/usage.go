package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the wall clock and the CPU time of this process at one moment.
type usage struct {
	time         int64
	user, system float64
}

var start = time.Now()

// now returns nanoseconds of the monotonic clock since the start.
func now() int64 {
	return int64(time.Since(start))
}

func readUsage() usage {
	var found syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &found); err != nil {
		panic(err)
	}
	return usage{now(), float64(found.Utime.Nano()) / 1e9, float64(found.Stime.Nano()) / 1e9}
}

// peakResident returns the largest resident set so far, in bytes. Not ru_maxrss, which survives exec.
func peakResident() int {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.Atoi(fields[1])
			return kilobytes * 1024
		}
	}
	return 0
}
