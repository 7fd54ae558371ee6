/**
 * The messages between the extension host and a page, in one table for each direction. For messages from a page, a contract maps each name
 * to the schema that the host checks, and for a request also to the answer's type. The host has one handler for every message of a
 * contract. Pages import contracts only as types, so they don't load any schema.
 */
import * as z from 'zod'

/** A message that has an answer. The page trusts the host, so the answer has a type and no schema. */
export interface Request<P = unknown, A = unknown> {
  readonly params: z.ZodType<P>
  readonly answer: { readonly type?: A }
}

/** The schemas of messages, by name. A message that isn't a {@link Request} is a notification. */
export type Contract = Readonly<Record<string, z.ZodType | Request>>

export type Params<M> = M extends Request<infer P> ? P : M extends z.ZodType<infer P> ? P : never
export type Answer<M> = M extends Request<infer _, infer A> ? A : unknown

export type RequestName<C> = { [K in keyof C]: C[K] extends Request ? K : never }[keyof C] & string
export type NotificationName<C> = Exclude<keyof C, RequestName<C>> & string

/** The host's handler for each message. If a handler is missing, the code doesn't compile. */
export type Handlers<C> = { [K in keyof C]: (params: Params<C[K]>) => Answer<C[K]> | Promise<Answer<C[K]>> }

/**
 * The host's messages to a page: the parameters by the message's name, `undefined` for none. A page trusts the host, so these messages have
 * types and no schemas.
 */
export type HostMessages<M> = { readonly [K in keyof M]: object | undefined }

/** The page's listener for each message of the host. If a listener is missing, the code doesn't compile. */
export type HostListeners<M> = { [K in keyof M]: (params: M[K]) => void }

/** The arguments of a function that sends a message of the host. */
export type HostArguments<P> = [P] extends [undefined] ? [] : [params: P]

export function request<P, A>(params: z.ZodType<P>, answer: Request<P, A>['answer']): Request<P, A> {
  return { params, answer }
}

/** Returns a value that only carries the type of a request's answer. */
export function answer<A>(): Request<unknown, A>['answer'] {
  return {}
}

/**
 * An id from an agent: any text, even an empty one. Some ids are long: proxies of models put a signature of several kilobytes into the id
 * of a tool call.
 */
export const agentsId = z.string().max(64 * 1024)

/** The schema for no parameters, for which vscode-jsonrpc sends nothing, `null` or `{}`. */
export const nothing = z.unknown().transform(() => undefined) as unknown as z.ZodType<undefined>

export type PageMessages = typeof pageMessages

/** Messages that any page may send. */
export const pageMessages = {
  /**
   * The page got or lost the keyboard focus. `isUsed`: the user pressed a key or clicked there, so the focus is intended. Commands apply to
   * the last conversation that reported the focus.
   */
  'page/focused': z.object({ focused: z.boolean(), isUsed: z.literal(true).optional() }),
} as const

/** Messages that any page may get. */
export type PageHostMessages = {
  /** A dialog that took the focus out of the page was closed, so the page takes the focus again. */
  'page/returnFocus': undefined
}
