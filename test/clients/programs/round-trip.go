// Publishes a text to a server and prints what it reads back. Arguments: the address of the server, and the text.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"example.com/roundtrip/api"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	client, err := api.NewClientWithResponses(os.Args[1])
	check(err)
	var payload api.Payload
	check(payload.FromCustomerMessagePayload(api.CustomerMessagePayload{Text: os.Args[2]}))
	request := api.SyncPublishRequest{Type: "CustomerMessage", Payload: &payload}
	run, err := client.ArtifactsPublishAndWaitWithResponse(ctx, nil, request)
	check(err)
	var queue any
	for _, artifact := range run.JSON200.Artifacts {
		if artifact.Type == "Routing" {
			queue = artifact.Payload["queue"]
		}
	}
	types := []string{"CustomerMessage"}
	query := api.ArtifactsListParams{CorrelationId: &run.JSON200.CorrelationId, Type: &types}
	listed, err := client.ArtifactsListWithResponse(ctx, &query)
	check(err)
	message, err := client.ArtifactsGetWithResponse(ctx, listed.JSON200.Items[0].Id)
	check(err)
	read := message.JSON200
	line, err := json.Marshal(map[string]any{"text": read.Payload["text"], "queue": queue, "produced_by": read.ProducedBy})
	check(err)
	fmt.Println(string(line))
}
