//! The command line of every program that scripts/bench runs.

use std::str::FromStr;

pub const USAGE: &str = "usage: rival-reqwest URL [-c IN_FLIGHT] [-n REQUESTS] [-w WARM_UP] [--method METHOD]
       [--body-file FILE] [-H 'Name: value']... [--http2] [--cacert PEM] [--typed]
       [--rate REQUESTS_PER_SECOND [--tick MICROSECONDS]]";

#[derive(Clone)]
pub struct Arguments {
    pub url: String,
    pub connections: usize,
    pub requests: u64,
    pub warm_up: u64,
    pub method: Option<String>,
    pub body: Option<Vec<u8>>,
    pub fields: Vec<(String, String)>,
    pub is_http2: bool,
    /// The contents of a PEM file.
    pub authorities: Option<Vec<u8>>,
    pub is_typed: bool,
    /// Requests a second of an open loop.
    pub rate: Option<f64>,
    /// In nanoseconds.
    pub tick: u64,
}

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut found = Arguments {
            url: String::new(),
            connections: 64,
            requests: 10_000,
            warm_up: 0,
            method: None,
            body: None,
            fields: Vec::new(),
            is_http2: false,
            authorities: None,
            is_typed: false,
            rate: None,
            tick: 0,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "-c" => found.connections = number(&word, &value()?)?,
                "-n" => found.requests = number(&word, &value()?)?,
                "-w" => found.warm_up = number(&word, &value()?)?,
                "--method" => found.method = Some(value()?),
                "--body-file" => found.body = Some(contents(&value()?)?),
                "-H" => found.fields.push(field(&value()?)?),
                "--http2" => found.is_http2 = true,
                "--cacert" => found.authorities = Some(contents(&value()?)?),
                "--typed" => found.is_typed = true,
                "--rate" => found.rate = Some(number(&word, &value()?)?),
                "--tick" => found.tick = number::<u64>(&word, &value()?)? * 1_000,
                _ if word.starts_with('-') => return Err(format!("unknown option {word}")),
                _ if found.url.is_empty() => found.url = word,
                _ => return Err("exactly one URL is needed".into()),
            }
        }
        if found.url.is_empty() {
            return Err("exactly one URL is needed".into());
        }
        if found.connections < 1 || found.requests < 1 {
            return Err("-c and -n must be 1 or more".into());
        }
        if found.rate.map_or(false, |rate| !(0.001..=1e7).contains(&rate)) {
            return Err("--rate must be 0.001 to 10,000,000 requests per second".into());
        }
        Ok(found)
    }
}

fn number<T: FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option}: '{text}' is not a valid number"))
}

fn contents(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{path}: {error}"))
}

fn field(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.trim().into())),
        _ => Err(format!("-H '{text}' is not 'Name: value'")),
    }
}
