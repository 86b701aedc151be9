//! The output of a run, with the keys of `errand bench --json`.

use crate::load::Load;
use crate::usage::peak_resident;
use serde_json::{json, Map, Value};

const PERCENTILES: [f64; 22] = [
    0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 97.5, 98.0, 99.0, 99.5, 99.9,
    99.95, 99.99, 100.0,
];

pub fn print(load: &Load, connections: usize) {
    let latency = &load.latency;
    let at = |percentile: f64| match percentile {
        _ if latency.count == 0 => 0.0,
        least if least == 0.0 => latency.min as f64 / 1e3,
        percentile => latency.quantile(percentile / 100.0) as f64 / 1e3,
    };
    let mean = if latency.count == 0 { 0.0 } else { latency.sum as f64 / latency.count as f64 / 1e3 };
    let seconds = (load.to.time - load.from.time) as f64 / 1e9;
    let (user, system) = (load.to.user - load.from.user, load.to.system - load.from.system);
    let counted = load.status.iter().enumerate().filter(|(_, count)| **count > 0);
    let status: Map<String, Value> = counted.map(|(code, count)| (code.to_string(), json!(count))).collect();
    let spectrum: Vec<[f64; 2]> = PERCENTILES.iter().map(|percentile| [*percentile, at(*percentile)]).collect();
    let report = json!({
        "requests": load.requests,
        "errors": load.errors,
        "seconds": seconds,
        "requests_per_second": (load.requests - load.errors) as f64 / seconds.max(1e-9),
        "bytes_received": load.bytes,
        "cpu_user_seconds": user,
        "cpu_system_seconds": system,
        "cpu_microseconds_per_request": (user + system) * 1e6 / load.requests.max(1) as f64,
        "peak_resident_bytes": peak_resident(),
        "latency_microseconds": {
            "min": at(0.0), "mean": mean, "p50": at(50.0), "p90": at(90.0), "p99": at(99.0), "p999": at(99.9),
            "max": at(100.0)
        },
        "latency_spectrum": spectrum,
        "status": status,
        "mode": "reqwest",
        "connections": connections,
        "loops": 1,
    });
    println!("{report}");
}
