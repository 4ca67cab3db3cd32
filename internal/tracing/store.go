package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// StartAppend begins the span of the wait for a commit, below the request's span in ctx, unless the
// request is not sampled. traced is for [ledger.Entry]. Call end with the append's error.
func (t *Tracer) StartAppend(ctx context.Context) (traced context.Context, end func(error)) {
	if !sampled(ctx) {
		return ctx, func(error) {}
	}
	traced, span := t.tracer.Start(ctx, "wait for commit")
	return traced, func(err error) { finish(span, err) }
}

// Store returns a store with spans for the reads of sampled requests, and for batches with their
// records. The engine is OpenTelemetry's name: sqlite or postgresql.
func (t *Tracer) Store(store ledger.Store, engine string) ledger.Store {
	return &tracedStore{Store: store, tracer: t.tracer, engine: engine}
}

// A tracedStore adds spans to the methods that serve single requests.
type tracedStore struct {
	ledger.Store
	tracer oteltrace.Tracer
	engine string
}

func (s *tracedStore) Append(ctx context.Context, batch ledger.Batch) error {
	ctx, span := s.startCommit(ctx, &batch)
	err := s.Store.Append(ctx, batch)
	finish(span, err)
	return err
}

func (s *tracedStore) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	var span oteltrace.Span = noop.Span{}
	err := s.Store.AppendNext(ctx, func(head ledger.Head) (*ledger.Batch, error) {
		batch, err := next(head)
		if err == nil && batch != nil {
			_, span = s.startCommit(ctx, batch)
		}
		return batch, err
	})
	finish(span, err)
	return err
}

// startCommit begins a batch's span. It is a child of the first sampled request's span, and is linked
// both ways with the spans of the others. Without a sampled request it does nothing.
func (s *tracedStore) startCommit(ctx context.Context, batch *ledger.Batch) (context.Context, oteltrace.Span) {
	var commit oteltrace.Span = noop.Span{}
	for i := range batch.Entries {
		wait := oteltrace.SpanFromContext(batch.Entries[i].Context)
		switch {
		case !wait.IsRecording():
		case !commit.IsRecording():
			ctx, commit = s.start(oteltrace.ContextWithSpan(ctx, wait), "Append")
			commit.SetAttributes(semconv.DBOperationBatchSize(len(batch.Entries)))
		default:
			commit.AddLink(oteltrace.Link{SpanContext: wait.SpanContext()})
			wait.AddLink(oteltrace.Link{SpanContext: commit.SpanContext()})
		}
	}
	return ctx, commit
}

func (s *tracedStore) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	return read(ctx, s, "Hashes", func() ([]tlog.Hash, error) { return s.Store.Hashes(ctx, level, from, n) })
}

func (s *tracedStore) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	_, err := read(ctx, s, "Records", func() (struct{}, error) { return struct{}{}, s.Store.Records(ctx, from, n, each) })
	return err
}

func (s *tracedStore) Select(ctx context.Context, q ledger.EntryQuery) ([]ledger.StoredEntry, error) {
	return read(ctx, s, q.By, func() ([]ledger.StoredEntry, error) { return s.Store.Select(ctx, q) })
}

func (s *tracedStore) Claims(ctx context.Context, q ledger.ClaimQuery) ([]ledger.Claim, error) {
	return read(ctx, s, "Claims", func() ([]ledger.Claim, error) { return s.Store.Claims(ctx, q) })
}

// read calls f within a span, if the request in ctx is sampled.
func read[T any](ctx context.Context, s *tracedStore, operation string, f func() (T, error)) (T, error) {
	if !sampled(ctx) {
		return f()
	}
	_, span := s.start(ctx, operation)
	result, err := f()
	finish(span, err)
	return result, err
}

func (s *tracedStore) start(ctx context.Context, operation string) (context.Context, oteltrace.Span) {
	return s.tracer.Start(ctx, "store."+operation, oteltrace.WithSpanKind(oteltrace.SpanKindClient),
		oteltrace.WithAttributes(semconv.DBSystemNameKey.String(s.engine), semconv.DBOperationName(operation)))
}

// sampled reports whether ctx belongs to a sampled request.
func sampled(ctx context.Context) bool { return oteltrace.SpanFromContext(ctx).IsRecording() }

// finish ends a span. It does not export the error's text, which may have secrets. That a record is
// not found is no error.
func finish(span oteltrace.Span, err error) {
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
