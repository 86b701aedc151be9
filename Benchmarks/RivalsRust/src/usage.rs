//! Wall clock and CPU time of this process at one moment.

#[derive(Clone, Copy)]
pub struct Usage {
    pub time: u64,
    pub user: f64,
    pub system: f64,
}

impl Usage {
    pub fn read() -> Usage {
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        let seconds = |value: libc::timeval| value.tv_sec as f64 + value.tv_usec as f64 / 1e6;
        Usage { time: now(), user: seconds(usage.ru_utime), system: seconds(usage.ru_stime) }
    }
}

/// Nanoseconds of the monotonic clock, which a timerfd knows as well.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The largest resident set so far, in bytes. Not `ru_maxrss`, which survives `exec`.
pub fn peak_resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
