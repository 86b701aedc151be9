//! A timer of the runtime's own epoll descriptor: tokio's own timers have a resolution of 1 ms.

use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;

pub struct Ticks {
    timer: AsyncFd<OwnedFd>,
}

impl Ticks {
    pub fn new() -> std::io::Result<Ticks> {
        let descriptor = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Ticks { timer: AsyncFd::new(unsafe { OwnedFd::from_raw_fd(descriptor) })? })
    }

    /// Returns at that time of the monotonic clock; at once where it has passed.
    pub async fn wait_until(&self, nanoseconds: u64) -> std::io::Result<()> {
        let mut setting: libc::itimerspec = unsafe { std::mem::zeroed() };
        setting.it_value.tv_sec = (nanoseconds / 1_000_000_000) as libc::time_t;
        setting.it_value.tv_nsec = (nanoseconds % 1_000_000_000) as libc::c_long;
        let descriptor = self.timer.get_ref().as_raw_fd();
        let none = std::ptr::null_mut();
        if unsafe { libc::timerfd_settime(descriptor, libc::TFD_TIMER_ABSTIME, &setting, none) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        loop {
            let mut ready = self.timer.readable().await?;
            let mut expired = 0u64;
            let into = (&mut expired as *mut u64).cast();
            if unsafe { libc::read(descriptor, into, 8) } == 8 {
                return Ok(());
            }
            ready.clear_ready();
        }
    }
}
