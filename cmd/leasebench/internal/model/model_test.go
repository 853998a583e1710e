package model_test

import (
	"reflect"
	"testing"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/model"
)

func TestMeasure(t *testing.T) {
	for _, events := range []int{model.MinEvents, 10, 100} {
		r, err := model.Measure(t.Context(), events, 0)
		if err != nil {
			t.Fatalf("%d events: %v", events, err)
		}
		v := reflect.ValueOf(r)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if v.Field(i).Float() <= 0 && !(name == "SelectStatusEvents" && events == model.MinEvents) {
				t.Errorf("%d events: %s = %v, want more than 0", events, name, v.Field(i))
			}
		}
	}
}
