package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// sender has one transport, and the goroutines that send with it.
type sender struct {
	transport *http.Transport
	arguments *arguments
	target    *url.URL
	item      *item
	load      *load
}

func newSender(arguments *arguments, load *load) (*sender, error) {
	target, err := url.Parse(arguments.url)
	if err != nil {
		return nil, err
	}
	if arguments.isTyped {
		arguments.fields.Set("Content-Type", "application/json")
	}
	if arguments.method == "" {
		arguments.method = http.MethodGet
		if arguments.body != nil || arguments.isTyped {
			arguments.method = http.MethodPost
		}
	}
	transport := &http.Transport{
		MaxIdleConnsPerHost: arguments.connections,
		DisableCompression:  true,
		ForceAttemptHTTP2:   arguments.isHTTP2,
	}
	if !arguments.isHTTP2 {
		transport.MaxConnsPerHost = arguments.connections
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	if arguments.authorities != nil {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(arguments.authorities) {
			return nil, errors.New("--cacert: no certificate in the file")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return &sender{transport, arguments, target, sampleItem(), load}, nil
}

// run sends all requests. It returns when the last one has ended.
func (sender *sender) run() {
	if sender.load.pace != nil {
		sender.runPaced()
		return
	}
	var senders sync.WaitGroup
	for number := 0; number < sender.arguments.connections; number++ {
		senders.Add(1)
		go func() {
			defer senders.Done()
			for began, isOne := sender.load.begin(); isOne; began, isOne = sender.load.begin() {
				sender.send(began)
			}
		}()
	}
	senders.Wait()
}

// runPaced sends what is due at each tick; where the limit of requests in flight is reached, when one of them ends.
func (sender *sender) runPaced() {
	places := make(chan struct{}, sender.arguments.connections)
	var senders sync.WaitGroup
	for departure, isOne := sender.load.departure(); isOne; departure, isOne = sender.load.departure() {
		if wait := departure - now(); wait > 0 {
			time.Sleep(time.Duration(wait))
		}
		places <- struct{}{}
		began, _ := sender.load.begin()
		senders.Add(1)
		go func() {
			defer senders.Done()
			sender.send(began)
			<-places
		}()
	}
	senders.Wait()
}

func (sender *sender) send(began int64) {
	status, bytes, err := sender.exchange()
	sender.load.end(began, status, bytes, err)
}

// exchange uses the transport alone: a Client would add redirects and cookies.
func (sender *sender) exchange() (int, int, error) {
	request, err := sender.request()
	if err != nil {
		return 0, 0, err
	}
	response, err := sender.transport.RoundTrip(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	body, err := whole(response)
	if err == nil && sender.arguments.isTyped {
		err = json.Unmarshal(body, &item{})
	}
	return response.StatusCode, len(body), err
}

func (sender *sender) request() (*http.Request, error) {
	request := &http.Request{
		Method: sender.arguments.method, URL: sender.target, Host: sender.target.Host, Header: http.Header{},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	for name, values := range sender.arguments.fields {
		request.Header[name] = values
	}
	body := sender.arguments.body
	if sender.arguments.isTyped {
		encoded, err := json.Marshal(sender.item)
		if err != nil {
			return nil, err
		}
		body = encoded
	}
	if body != nil {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return request, nil
}

// whole reads the body into a buffer that has its length from the start, and then its end: without that the connection
// is not used again.
func whole(response *http.Response) ([]byte, error) {
	if response.ContentLength < 0 {
		return io.ReadAll(response.Body)
	}
	body := make([]byte, response.ContentLength)
	if _, err := io.ReadFull(response.Body, body); err != nil {
		return nil, err
	}
	var end [1]byte
	if _, err := response.Body.Read(end[:]); err != io.EOF {
		return nil, errors.New("the body is longer than its Content-Length")
	}
	return body, nil
}
