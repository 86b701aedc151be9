// rival-go: Go's net/http under the load of scripts/bench, with one processor for all goroutines.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	arguments, err := parseArguments(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "rival-go: %v\n", err)
		os.Exit(64)
	}
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	load := newLoad(arguments)
	sender, err := newSender(arguments, load)
	if err != nil {
		fmt.Fprintf(os.Stderr, "rival-go: %v\n", err)
		os.Exit(1)
	}
	sender.run()
	if load.firstError != nil {
		fmt.Fprintf(os.Stderr, "rival-go: first error: %v\n", load.firstError)
	}
	if err := printReport(load, arguments.connections); err != nil {
		fmt.Fprintf(os.Stderr, "rival-go: %v\n", err)
		os.Exit(1)
	}
}
