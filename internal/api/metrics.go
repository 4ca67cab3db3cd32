package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/httperror"
	"riffle/internal/ledger"
	"riffle/internal/shuffle"
)

// durations are the bounds of all duration histograms, in seconds: about three for each power of ten.
var durations = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1, 2.5, 5, 10}

// Metrics are the metrics of requests and of the log. Each label has a bounded set of values, such as the
// routes.
type Metrics struct {
	requests    *prometheus.HistogramVec
	byKey       *prometheus.CounterVec
	shuffles    *prometheus.HistogramVec
	items       prometheus.Counter
	shed        prometheus.Counter
	rejected    *prometheus.CounterVec
	commits     *prometheus.HistogramVec
	lost        prometheus.Counter // races for the end of the log
	commitments *prometheus.CounterVec
	shoes       *prometheus.CounterVec
	anchored    *prometheus.GaugeVec
	witnesses   *prometheus.CounterVec
	witnessed   *prometheus.GaugeVec // without labels; without a value until Witnessed
}

// NewMetrics registers the metrics. Counters of known labels begin at 0.
func NewMetrics(registry prometheus.Registerer, version, revision string) *Metrics {
	register := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	total := func(name, help string) prometheus.Counter {
		return register.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return register.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: durations}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	gauge("riffle_build_info", "1, labelled by what runs.", "version", "revision").WithLabelValues(version, revision).Set(1)
	m := &Metrics{
		requests:    histogram("riffle_http_request_duration_seconds", "Time from a request's header to the end of its answer.", "route", "method", "status"),
		byKey:       counter("riffle_requests_total", "Requests by the name of the key that sent them; empty for callers without a key.", "key"),
		shuffles:    histogram("riffle_shuffle_duration_seconds", "Time of the shuffles of one request, from keystream to order.", "algorithm"),
		items:       total("riffle_items_shuffled_total", "Items drawn, over all shuffles."),
		shed:        total("riffle_http_shed_total", "Requests that were answered 503: queue or memory budget full, no space, no store, no checkpoint yet, stopping."),
		rejected:    counter("riffle_rejected_requests_total", "Requests that were answered 503, by what was full or missing, or 429 since the share of their address was full.", "reason"),
		commits:     histogram("riffle_commit_duration_seconds", "Time of one durable commit of a batch of records.", "result"),
		lost:        total("riffle_commit_conflicts_total", "Commits that were made again because another process appended first."),
		commitments: counter("riffle_commitments_total", "Commitments that were made, used or logged as void, and uses that came late.", "event"),
		shoes:       counter("riffle_shoe_changes_total", "Changes of shoes, by the kind of their records.", "kind"),
		anchored:    gauge("riffle_anchor_compared_timestamp_seconds", "When the log was last compared with an anchor.", "anchor"),
		witnesses:   counter("riffle_witness_answers_total", "Checkpoints that a witness was asked to cosign, by what became of it.", "witness", "result"),
		witnessed:   gauge("riffle_witnessed_timestamp_seconds", "When enough witnesses were last known to have cosigned the published checkpoint."),
	}
	begin(m.commitments.MetricVec, dealer.Committed, dealer.Used, dealer.Voided, dealer.Late)
	begin(m.shoes.MetricVec, audit.KindShoe, audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindReshuffle, audit.KindClose, audit.KindExpire)
	begin(m.rejected.MetricVec, httperror.Reasons()...)
	begin(m.shuffles.MetricVec, shuffle.Algorithms()...)
	return m
}

// begin begins metrics at 0, by their label.
func begin[T ~string](vec *prometheus.MetricVec, labels ...T) {
	for _, label := range labels {
		_, _ = vec.GetMetricWithLabelValues(string(label)) // no error, since the vector has one label
	}
}

// A state collects gauges of the log: whether it is ready, its queue and its sizes, and its open and late
// commitments and open shoes. A scrape counts these in the store, and omits them if it cannot be reached.
type state struct{ *API }

// Watch registers the gauges of the log.
func (a *API) Watch(registry prometheus.Registerer) { registry.MustRegister(state{a}) }

// Describe implements [prometheus.Collector]. It leaves the gauges to Collect, which has each of
// them once.
func (state) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s state) Collect(c chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	show := func(name, help string, value float64, status ...string) {
		desc := prometheus.NewDesc(name, help, []string{"status"}[:len(status)], nil)
		c <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, status...)
	}
	ready := 1.0
	if s.ready() != nil {
		ready = 0
	}
	show("riffle_ready", "1 while the log is ready: see /readyz.", ready)
	depth, capacity := s.Log.Queued()
	committed, published := s.Log.Sizes()
	show("riffle_queue_depth", "Records that wait for the next commit.", float64(depth))
	show("riffle_queue_capacity", "Records that may wait before requests are answered 503.", float64(capacity))
	show("riffle_log_size", "Records in the log, as far as this process knows.", float64(committed))
	show("riffle_log_published_size", "Records that the published checkpoint covers.", float64(published))
	if open, late, err := s.Dealer.CountCommitments(ctx); err == nil {
		const help = "Commitments in the log that wait to be used (open), or for the log to say that they are void (late)."
		show("riffle_commitments", help, float64(open), string(dealer.StatusOpen))
		show("riffle_commitments", help, float64(late), string(dealer.StatusLate))
	}
	if open, err := s.Shoes.Count(ctx); err == nil {
		show("riffle_shoes", "Shoes that cards can be dealt from.", float64(open))
	}
}

// Commitment counts an event of a commitment.
func (m *Metrics) Commitment(e dealer.Event) {
	m.commitments.WithLabelValues(string(e)).Inc()
}

// ShoeChange counts a record of a shoe.
func (m *Metrics) ShoeChange(kind audit.Kind) { m.shoes.WithLabelValues(string(kind)).Inc() }

// Anchored records that the log was compared with an anchor.
func (m *Metrics) Anchored(name string) {
	m.anchored.WithLabelValues(name).SetToCurrentTime()
}

// Witness counts an answer of a witness.
func (m *Metrics) Witness(name, result string) {
	m.witnesses.WithLabelValues(name, result).Inc()
}

// Witnessed records that enough witnesses have cosigned the published checkpoint.
func (m *Metrics) Witnessed() { m.witnessed.WithLabelValues().SetToCurrentTime() }

// request counts a request that was answered, with its time.
func (m *Metrics) request(x *exchange, took time.Duration) {
	m.requests.WithLabelValues(pattern(x.r), method(x.r.Method), statusLabel(x.Status)).Observe(took.Seconds())
	m.byKey.WithLabelValues(x.caller.Key).Inc()
}

// Commit records a commit of the log.
func (m *Metrics) Commit(c ledger.Commit) {
	result := "ok"
	if c.Err != nil {
		result = "error"
	}
	m.commits.WithLabelValues(result).Observe(c.Duration.Seconds())
	m.lost.Add(float64(c.Conflicts))
}

// pattern returns the request's route, a label of metrics.
func pattern(r *http.Request) string {
	if p := chi.RouteContext(r.Context()).RoutePattern(); p != "" {
		return p
	}
	return "none"
}

// statusLabel returns a status as a label, usually without allocating.
func statusLabel(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// method returns a method as a label: "other" if HTTP does not define it.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// metricsBytes is the approximate memory of all metrics.
const metricsBytes = 512 << 10

// metrics answers GET /metrics.
func (a *API) metrics(x *exchange) error {
	if err := x.lease.Grow(metricsBytes); err != nil {
		return err
	}
	families, err := a.Gatherer.Gather()
	if err != nil {
		return err
	}
	x.Header().Set("Cache-Control", "no-store")
	gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
	promhttp.HandlerFor(gathered, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(x, x.r)
	return nil
}
