package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// The command line of every program that scripts/bench runs.
type arguments struct {
	url         string
	connections int
	requests    int
	warmUp      int
	method      string
	body        []byte
	fields      http.Header
	isHTTP2     bool
	authorities []byte // the contents of a PEM file
	isTyped     bool
	rate        float64 // requests a second of an open loop; 0: a closed loop
	tick        int64   // in nanoseconds
}

// The URL comes first: package flag stops at the first word that is no option.
func parseArguments(words []string) (*arguments, error) {
	found := &arguments{fields: http.Header{}}
	flags := flag.NewFlagSet("rival-go URL", flag.ContinueOnError)
	flags.IntVar(&found.connections, "c", 64, "number of requests in flight; with --rate, the maximum")
	flags.IntVar(&found.requests, "n", 10_000, "number of requests to measure")
	flags.IntVar(&found.warmUp, "w", 0, "number of requests before the measurement")
	flags.StringVar(&found.method, "method", "", "method of the requests; default: GET, or POST with a body")
	flags.BoolVar(&found.isHTTP2, "http2", false, "use HTTP/2, by ALPN over TLS")
	flags.BoolVar(&found.isTyped, "typed", false, "POST a value as JSON and decode the response as JSON")
	flags.Float64Var(&found.rate, "rate", 0, "open loop: requests per second")
	flags.Func("tick", "with --rate: microseconds between sends", func(text string) error {
		_, err := fmt.Sscan(text, &found.tick)
		found.tick *= 1_000
		return err
	})
	flags.Func("body-file", "file with the body of each request", func(path string) (err error) {
		found.body, err = os.ReadFile(path)
		return err
	})
	flags.Func("cacert", "PEM file with the trusted CA certificates", func(path string) (err error) {
		found.authorities, err = os.ReadFile(path)
		return err
	})
	flags.Func("H", "header field, 'Name: value'; repeatable", func(text string) error {
		name, value, isField := strings.Cut(text, ":")
		if !isField || name == "" {
			return errors.New("not 'Name: value'")
		}
		found.fields.Add(name, strings.TrimSpace(value))
		return nil
	})
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		flags.Usage()
		return nil, errors.New("exactly one URL is needed, before the options")
	}
	found.url = words[0]
	if err := flags.Parse(words[1:]); err != nil {
		return nil, err
	}
	if flags.NArg() != 0 {
		return nil, errors.New("exactly one URL is needed, before the options")
	}
	if found.connections < 1 || found.requests < 1 || found.warmUp < 0 || found.tick < 0 {
		return nil, errors.New("-c and -n must be 1 or more, -w and --tick 0 or more")
	}
	if found.rate != 0 && (found.rate < 0.001 || found.rate > 1e7) {
		return nil, errors.New("--rate must be 0.001 to 10,000,000 requests per second")
	}
	return found, nil
}
