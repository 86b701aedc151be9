//! reqwest under the load of scripts/bench: one client on tokio's current_thread runtime.

mod arguments;
mod client;
mod histogram;
mod item;
mod load;
mod report;
mod ticks;
mod usage;

use std::process::exit;
use std::sync::{Arc, Mutex};

use arguments::Arguments;
use load::Load;

/// As the bare loop does: glibc gives the memory of a large body back to the kernel when the body is freed, and the
/// pages of the next body are faulted in again.
fn keep_freed_memory() {
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 * 1024 * 1024);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 256 * 1024 * 1024);
    }
}

/// Raises the soft limit: each connection needs a socket, and shells allow only 1,024 descriptors.
fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

fn run(arguments: Arguments) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be created: {error}"))?;
    let connections = arguments.connections;
    let load = Arc::new(Mutex::new(Load::new(&arguments)));
    runtime.block_on(client::run(arguments, load.clone()))?;
    let load = load.lock().map_err(|_| "a task panicked".to_string())?;
    if let Some(error) = &load.first_error {
        eprintln!("rival-reqwest: first error: {error}");
    }
    report::print(&load, connections);
    Ok(())
}

fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|what| {
        eprintln!("rival-reqwest: {what}\n{}", arguments::USAGE);
        exit(64);
    });
    keep_freed_memory();
    raise_descriptor_limit();
    if let Err(what) = run(arguments) {
        eprintln!("rival-reqwest: {what}");
        exit(1);
    }
}
