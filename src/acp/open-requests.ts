import {
  type AbstractCancellationTokenSource,
  type CancellationId,
  type CancellationToken,
  CancellationTokenSource,
} from 'vscode-jsonrpc/node'
import { CancelledError } from '../common/errors.ts'
import { MAX_OPEN_BYTES } from '../common/limits.ts'
import { sizeOf } from '../common/size-of.ts'

/** The requests of the agent that aren't answered yet. */
export class OpenRequests {
  /** by id; agents may use an id for several open requests */
  readonly #byId = new Map<CancellationId, Set<OpenRequest>>()
  #count = 0
  #bytes = 0

  get count(): number {
    return this.#count
  }

  /** the total size of the held values, in bytes */
  get bytes(): number {
    return this.#bytes
  }

  begin(id: CancellationId): OpenRequest {
    const request = new OpenRequest(id)
    const same = this.#byId.get(id)
    if (same) same.add(request)
    else this.#byId.set(id, new Set([request]))
    this.#count++
    return request
  }

  end(request: OpenRequest): void {
    const { id } = request.token
    const same = this.#byId.get(id)
    if (!same?.delete(request)) return
    this.#count--
    if (same.size === 0) this.#byId.delete(id)
  }

  /** Adds the size of a value to {@link bytes} until the returned function is called. */
  hold(value: unknown): () => void {
    const size = sizeOf(value, MAX_OPEN_BYTES)
    this.#bytes += size
    return () => {
      this.#bytes -= size
    }
  }

  /** Cancels the requests with an id, because the agent has withdrawn them. */
  withdraw(id: CancellationId): void {
    for (const request of this.#byId.get(id) ?? []) request.cancel()
  }

  withdrawAll(): void {
    for (const id of [...this.#byId.keys()]) this.withdraw(id)
    this.#byId.clear()
    this.#count = 0
  }
}

/** The cancellation token of a request from the agent. */
export interface RequestToken extends CancellationToken {
  readonly id: CancellationId
  readonly request: OpenRequest
}

export class OpenRequest implements AbstractCancellationTokenSource {
  readonly #source = new CancellationTokenSource()
  readonly #controller = new AbortController()
  readonly token: RequestToken

  constructor(id: CancellationId) {
    const inner = this.#source.token
    this.token = {
      id,
      request: this,
      get isCancellationRequested() {
        return inner.isCancellationRequested
      },
      onCancellationRequested: inner.onCancellationRequested,
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  cancel(): void {
    this.#source.cancel()
    this.#controller.abort(new CancelledError())
  }

  dispose(): void {
    this.#source.dispose()
  }
}
