//! One reqwest client, and the tasks that send with it.

use std::sync::{Arc, Mutex};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Body, Certificate, Client, Method, Request, Url};

use crate::arguments::Arguments;
use crate::item::Item;
use crate::load::Load;
use crate::ticks::Ticks;

struct Sender {
    client: Client,
    method: Method,
    url: Url,
    fields: HeaderMap,
    body: Option<Vec<u8>>,
    item: Option<Item>,
    load: Arc<Mutex<Load>>,
}

/// Sends all requests. Returns when the last one has ended.
pub async fn run(arguments: Arguments, load: Arc<Mutex<Load>>) -> Result<(), String> {
    let (width, paced) = (arguments.connections, arguments.rate.is_some());
    let sender = Arc::new(Sender::new(arguments, load)?);
    if paced {
        return run_paced(sender, width).await.map_err(|error| format!("the timer: {error}"));
    }
    let tasks: Vec<_> = (0..width)
        .map(|_| {
            let sender = sender.clone();
            tokio::spawn(async move {
                while let Some(began) = sender.begin() {
                    sender.send(began).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(text)?;
    }
    Ok(())
}

/// Sends what is due at each tick; where the limit of requests in flight is reached, when one of them ends.
async fn run_paced(sender: Arc<Sender>, width: usize) -> std::io::Result<()> {
    let ticks = Ticks::new()?;
    let places = Arc::new(tokio::sync::Semaphore::new(width));
    while let Some(departure) = sender.departure() {
        if departure > crate::usage::now() {
            ticks.wait_until(departure).await?;
        }
        let place = places.clone().acquire_owned().await.expect("the semaphore is never closed");
        if let Some(began) = sender.begin() {
            let sender = sender.clone();
            tokio::spawn(async move {
                sender.send(began).await;
                drop(place);
            });
        }
    }
    let _ = places.acquire_many(width as u32).await;
    Ok(())
}

impl Sender {
    fn new(arguments: Arguments, load: Arc<Mutex<Load>>) -> Result<Sender, String> {
        let mut fields = HeaderMap::new();
        for (name, value) in &arguments.fields {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("'{name}' names no field"))?;
            fields.append(name, HeaderValue::from_str(value).map_err(text)?);
        }
        if arguments.is_typed {
            fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let sends_body = arguments.body.is_some() || arguments.is_typed;
        let method = arguments.method.as_deref().unwrap_or(if sends_body { "POST" } else { "GET" });
        Ok(Sender {
            client: client(&arguments)?,
            method: Method::from_bytes(method.as_bytes()).map_err(text)?,
            url: Url::parse(&arguments.url).map_err(|error| format!("{}: {error}", arguments.url))?,
            fields,
            body: arguments.body,
            item: arguments.is_typed.then(Item::sample),
            load,
        })
    }

    fn begin(&self) -> Option<u64> {
        self.load.lock().expect("panics abort").begin()
    }

    fn departure(&self) -> Option<u64> {
        self.load.lock().expect("panics abort").departure()
    }

    async fn send(&self, began: u64) {
        let outcome = self.exchange().await;
        self.load.lock().expect("panics abort").end(began, outcome);
    }

    /// `bytes` copies the chunks into one buffer that has the length of Content-Length from the start.
    async fn exchange(&self) -> Result<(u16, usize), String> {
        let response = self.client.execute(self.request()?).await.map_err(|error| format!("{error:?}"))?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(|error| format!("{error:?}"))?;
        if self.item.is_some() && serde_json::from_slice::<Item>(&body).map_err(text)?.is_empty() {
            return Err("the item has no name".into());
        }
        Ok((status, body.len()))
    }

    fn request(&self) -> Result<Request, String> {
        let mut request = Request::new(self.method.clone(), self.url.clone());
        if !self.fields.is_empty() {
            *request.headers_mut() = self.fields.clone();
        }
        if let Some(item) = &self.item {
            let bytes = serde_json::to_vec(item).map_err(text)?;
            *request.body_mut() = Some(Body::from(bytes));
        } else if let Some(body) = &self.body {
            *request.body_mut() = Some(Body::from(body.clone()));
        }
        Ok(request)
    }
}

fn client(arguments: &Arguments) -> Result<Client, String> {
    let mut builder = Client::builder().no_proxy().redirect(Policy::none()).referer(false).pool_idle_timeout(None);
    if !arguments.is_http2 {
        builder = builder.http1_only();
    }
    if let Some(pem) = &arguments.authorities {
        let authority = Certificate::from_pem(pem).map_err(text)?;
        builder = builder.add_root_certificate(authority).tls_built_in_root_certs(false);
    }
    builder.build().map_err(text)
}

fn text<E: std::fmt::Display>(error: E) -> String {
    error.to_string()
}
