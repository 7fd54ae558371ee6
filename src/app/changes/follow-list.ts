import { isDeepStrictEqual } from 'node:util'
import { type Disposable, DisposableStore, toDisposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'

/** The minimum interval between updates, in milliseconds. */
const UPDATE_MS = 100

/** The changes of a list since the last update. `removed` contains keys. */
export interface ListChange<T> {
  changed: T[]
  removed: string[]
}

interface FollowedList<T> {
  events: readonly Event<unknown>[]
  /** Returns the list. Items that haven't changed should be the same objects, since they are compared fastest. */
  read: () => readonly T[]
  keyOf: (item: T) => string
  tell: (change: ListChange<T>) => void
}

/** Reports a list soon, and then its changes whenever one of the events fires. */
export function followList<T>({ events, read, keyOf, tell }: FollowedList<T>): Disposable {
  const own = new DisposableStore()
  let sent: Map<string, T> | undefined
  let timer: NodeJS.Timeout | undefined
  const update = () => {
    timer = undefined
    const before = sent
    const now = new Map(read().map(item => [keyOf(item), item]))
    sent = now
    const changed = [...now].flatMap(([key, item]) => {
      const known = before?.get(key)
      return known !== undefined && (known === item || isDeepStrictEqual(known, item)) ? [] : [item]
    })
    const removed = [...(before?.keys() ?? [])].filter(key => !now.has(key))
    if (!before || changed.length + removed.length > 0) tell({ changed, removed })
  }
  const soon = () => {
    timer ??= setTimeout(update, UPDATE_MS)
  }
  for (const event of events) own.add(event(soon))
  own.add(toDisposable(() => clearTimeout(timer)))
  soon()
  return own
}

/** Applies a change to a map of the list by key. */
export function applyChange<T>(
  list: Map<string, T>,
  { changed, removed }: ListChange<T>,
  keyOf: (item: T) => string,
): void {
  for (const key of removed) list.delete(key)
  for (const item of changed) list.set(keyOf(item), item)
}
