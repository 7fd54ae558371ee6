import { isDeepStrictEqual } from 'node:util'
import { type Disposable, DisposableStore, toDisposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'

/** Minimum interval between updates, in milliseconds. */
const UPDATE_MS = 100

/** What has changed in a list since it was sent last. `removed`: by key. */
export interface ListChange<T> {
  changed: T[]
  removed: string[]
}

interface FollowedList<T> {
  events: readonly Event<unknown>[]
  /** Items that haven't changed are best the same objects. */
  read: () => readonly T[]
  keyOf: (item: T) => string
  tell: (change: ListChange<T>) => void
}

/** Tells a list soon, and what changes in it when one of the events fires. */
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

/** The list as it was sent, by key. */
export function applyChange<T>(
  list: Map<string, T>,
  { changed, removed }: ListChange<T>,
  keyOf: (item: T) => string,
): void {
  for (const key of removed) list.delete(key)
  for (const item of changed) list.set(keyOf(item), item)
}
