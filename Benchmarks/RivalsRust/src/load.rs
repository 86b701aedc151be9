//! Hands out requests and counts how they end. All of it happens on one thread.

use crate::arguments::Arguments;
use crate::histogram::Histogram;
use crate::usage::{now, Usage};

pub struct Load {
    pub started: u64,
    ended: u64,
    warm_up: u64,
    total: u64,
    pub pace: Option<Pace>,
    pub requests: u64,
    pub errors: u64,
    pub bytes: u64,
    pub status: Vec<u64>,
    pub latency: Histogram,
    pub first_error: Option<String>,
    pub from: Usage,
    pub to: Usage,
}

/// The due times of an open loop.
#[derive(Clone, Copy)]
pub struct Pace {
    pub first: u64,
    rate: f64,
    /// Nanoseconds between sends; 0: each request is sent at its own time.
    tick: u64,
}

impl Pace {
    pub fn due(&self, number: u64) -> u64 {
        self.first + (number as f64 * 1e9 / self.rate) as u64
    }

    pub fn departure(&self, number: u64) -> u64 {
        let due = self.due(number);
        match if self.tick == 0 { 0 } else { (due - self.first) % self.tick } {
            0 => due,
            past => due + self.tick - past,
        }
    }
}

impl Load {
    pub fn new(arguments: &Arguments) -> Load {
        let tick = arguments.tick;
        Load {
            started: 0,
            ended: 0,
            warm_up: arguments.warm_up,
            total: arguments.warm_up + arguments.requests,
            pace: arguments.rate.map(|rate| Pace { first: now(), rate, tick }),
            requests: 0,
            errors: 0,
            bytes: 0,
            status: vec![0; 600],
            latency: Histogram::new(),
            first_error: None,
            from: Usage::read(),
            to: Usage::read(),
        }
    }

    /// Returns when the latency of the next request begins; nothing after the last request.
    pub fn begin(&mut self) -> Option<u64> {
        if self.started == self.total {
            return None;
        }
        let time = self.pace.map_or_else(now, |pace| pace.due(self.started));
        self.started += 1;
        Some(time)
    }

    /// When the next request of an open loop is to be sent.
    pub fn departure(&self) -> Option<u64> {
        self.pace.filter(|_| self.started < self.total).map(|pace| pace.departure(self.started))
    }

    pub fn end(&mut self, began: u64, outcome: Result<(u16, usize), String>) {
        self.ended += 1;
        if self.ended > self.warm_up {
            self.count(began, outcome);
            if self.ended == self.total {
                self.to = Usage::read();
            }
        } else if self.ended == self.warm_up {
            self.from = Usage::read();
        }
    }

    fn count(&mut self, began: u64, outcome: Result<(u16, usize), String>) {
        self.requests += 1;
        match outcome {
            Ok((status, bytes)) if usize::from(status) < self.status.len() => {
                self.status[usize::from(status)] += 1;
                self.bytes += bytes as u64;
                self.latency.record(now().saturating_sub(began));
            }
            Ok((status, _)) => self.fail(format!("{status} is not a status code")),
            Err(what) => self.fail(what),
        }
    }

    fn fail(&mut self, what: String) {
        self.errors += 1;
        self.first_error.get_or_insert(what);
    }
}
