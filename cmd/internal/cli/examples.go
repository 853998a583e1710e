package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples of how commands are used, by the names of the command.
var examples = map[string]string{
	"abort": `  leasestream abort order-42 --reason "the supplier is gone"
  leasestream abort order-42 01.02`,
	"blob get": `  leasestream blob get reports/2026.csv >2026.csv`,
	"blob ls":  `  leasestream blob ls streams/`,
	"blob put": `  leasestream blob put reports/2026.csv 2026.csv --if-none-match '*'
  producer | leasestream blob put reports/2026.csv --lease-id "$id"`,
	"blob rm":   `  leasestream blob rm reports/2026.csv --lease-id "$id"`,
	"blob stat": `  leasestream blob stat reports/2026.csv --format json`,
	"cancel": `  leasestream cancel order-42 --reason "wrong input"
  leasestream cancel order-42 '01.*'`,
	"complete": `  leasestream complete order-42 01.02 --output '{"approved": true}'
  leasestream complete order-42 01.02 --output @answer.json --by eve`,
	"completion": `  leasestream completion bash >/etc/bash_completion.d/leasestream`,
	"config": `  leasestream config
  leasestream config lease acquire --format json`,
	"doctor": `  leasestream doctor
  leasestream doctor --store https://ACCOUNT.blob.core.windows.net/CONTAINER --format json`,
	"each": `  ls *.csv | leasestream each --workers 4 -- gzip -k {}
  leasestream each --policy tolerate:5% -- curl -fsS https://{}/health < hosts`,
	"lease acquire": `  leasestream lease acquire reports/2026.csv --duration 60s
  id=$(leasestream lease acquire reports/2026.csv --duration infinite --wait 5m)`,
	"lease break": `  leasestream lease break reports/2026.csv
  leasestream lease break --container --period 0s`,
	"lease change": `  leasestream lease change reports/2026.csv --id "$id" --to "$new"`,
	"lease ls": `  leasestream lease ls workers/
  leasestream lease ls --account`,
	"lease release": `  leasestream lease release reports/2026.csv --id "$id"`,
	"lease renew":   `  leasestream lease renew reports/2026.csv --id "$id"`,
	"lease show": `  leasestream lease show reports/2026.csv
  leasestream lease show --container --format json`,
	"limit": `  leasestream limit order-42 Search 4
  leasestream limit order-42 Search none`,
	"ls": `  leasestream ls --status aborted
  leasestream ls --format json`,
	"pause": `  leasestream pause order-42 --reason "prices are being updated"
  leasestream pause order-42 '01.*'`,
	"purge": `  leasestream purge order-42
  leasestream purge --older-than 30d --status completed --dry-run
  leasestream purge --tag customer=acme --yes`,
	"query": `  leasestream query order-42 './Event[@status=$s]' --var s=aborted
  leasestream query order-42 'count(./Event[@status="init"])'`,
	"resume": `  leasestream resume order-42
  leasestream resume order-42 '01.*'`,
	"retry": `  leasestream retry order-42
  leasestream retry order-42 '01.*'
  leasestream retry order-42 --from 01.02 --input '{"city": "Brno"}'`,
	"run": `  leasestream run pipeline.yaml --input '{"city": "Brno"}'
  leasestream run pipeline.yaml --set city=Brno --name order-42`,
	"show": `  leasestream show order-42
  leasestream show order-42 --format xml`,
	"skip": `  leasestream skip order-42 01.02`,
	"start": `  leasestream start pipeline.yaml --input @order.json
  producer | leasestream start pipeline.yaml --input - --name order-42`,
	"work": `  leasestream work pipeline.yaml --workers 8
  leasestream work --definitions /etc/leasestream/pipelines --store https://ACCOUNT.blob.core.windows.net/CONTAINER`,
	"watch": `  leasestream watch
  leasestream watch order-42`,
	"worker log": `  leasestream worker log host-4711-abcdefgh`,
	"worker ls":  `  leasestream worker ls --format json`,
	"worker set": `  leasestream worker set host-4711-abcdefgh --slots 0`,
}

func addExample(cmd *cobra.Command) {
	if example, ok := examples[strings.Join(namesOf(cmd), " ")]; ok {
		cmd.Example = example
	}
}
