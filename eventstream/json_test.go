package eventstream_test

import (
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

func TestEvent_JSON(t *testing.T) {
	s, err := eventstream.Parse([]byte(`<EventStream name="s" run="r" pipeline="p">
<Event id="00" name="A" status="inprocess" next="01.00 | 02.00" input="mine" own="&lt;&amp;&gt;"><Input>{"n": 12345678901234567890}</Input></Event>
<Event id="01.00" prev="00" name="B" status="aborted" msg="m" attempt="2" failures="2" key="w"><Attempt n="1" error="e">d</Attempt><Attempt n="2" error="f"/><Cursor>[1]</Cursor></Event>
<Event id="02.00" prev="00" name="B" status="completed"><Output ref="payload/r/x.out" bytes="9" sha256="ab"/></Event>
<Event id="02.01" name="C" prev="02.00" status="completed" superseded="true"><Output>no json</Output></Event>
</EventStream>`))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"00":    `{"id":"00","name":"A","status":"inprocess","prev":"","next":["01.00","02.00"],"key":"","attempt":0,"failures":0,"msg":"","@input":"mine","own":"<&>","input":{"n":12345678901234567890}}`,
		"01.00": `{"id":"01.00","name":"B","status":"aborted","prev":"00","next":[],"key":"w","attempt":2,"failures":2,"msg":"m","cursor":[1],"attempts":[{"n":1,"error":"e","detail":"d"},{"n":2,"error":"f"}]}`,
		"02.00": `{"id":"02.00","name":"B","status":"completed","prev":"00","next":[],"key":"","attempt":0,"failures":0,"msg":"","outputRef":{"ref":"payload/r/x.out","bytes":9,"sha256":"ab"}}`,
		"02.01": `{"id":"02.01","name":"C","status":"completed","prev":"02.00","next":[],"key":"","attempt":0,"failures":0,"msg":"","superseded":"true","output":"no json"}`,
	} {
		if got := string(s.Event(id).AppendJSON(nil, nil)); got != want {
			t.Errorf("event %s as JSON:\n%s\nwant\n%s", id, got, want)
		}
	}
	got := string(s.Event("01.00").AppendJSON([]byte("> "), func(id string) string { return "child/" + id }))
	if want := `> {"id":"child/01.00","name":"B","status":"aborted","prev":"child/00","next":[]`; !strings.HasPrefix(got, want) {
		t.Errorf("event 01.00 with addresses: %s, want %s …", got, want)
	}
}
