/**
 * The messages between the extension host and a page, in one table for each direction. For messages from a page, a contract gives each name
 * the schema that the host checks, and for a request the type of the answer. The host handles every message of a contract with one
 * function. Pages import contracts only as types, so they don't load any schema.
 */
import * as z from 'zod'

/** A message that is answered. The webview trusts the host: the answer has a type and no schema. */
export interface Request<P = unknown, A = unknown> {
  readonly params: z.ZodType<P>
  readonly answer: { readonly type?: A }
}

/** The schemas of messages, by name. A message with a plain schema is a notification. */
export type Contract = Readonly<Record<string, z.ZodType | Request>>

export type Params<M> = M extends Request<infer P> ? P : M extends z.ZodType<infer P> ? P : never
export type Answer<M> = M extends Request<infer _, infer A> ? A : unknown

export type RequestName<C> = { [K in keyof C]: C[K] extends Request ? K : never }[keyof C] & string
export type NotificationName<C> = Exclude<keyof C, RequestName<C>> & string

/** The host's handler of each message: a message without a handler doesn't compile. */
export type Handlers<C> = { [K in keyof C]: (params: Params<C[K]>) => Answer<C[K]> | Promise<Answer<C[K]>> }

/**
 * The host's messages to a page: the parameters by the message's name, `undefined` for none. A page trusts the host, so the messages have
 * types and no schemas.
 */
export type HostMessages<M> = { readonly [K in keyof M]: object | undefined }

/** The page's listener for each message of the host: a message without a listener doesn't compile. */
export type HostListeners<M> = { [K in keyof M]: (params: M[K]) => void }

/** The arguments that send a message of the host. */
export type HostArguments<P> = [P] extends [undefined] ? [] : [params: P]

export function request<P, A>(params: z.ZodType<P>, answer: Request<P, A>['answer']): Request<P, A> {
  return { params, answer }
}

/** The type of a request's answer. */
export function answer<A>(): Request<unknown, A>['answer'] {
  return {}
}

/**
 * An id from an agent: any text, even an empty one. Some are long: proxies of models put a signature of several kilobytes
 * into the id of a tool call.
 */
export const agentsId = z.string().max(64 * 1024)

/** No parameters: vscode-jsonrpc sends nothing, `null` or `{}` for them. */
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
  /** A dialog that took the focus out of the page was closed. */
  'page/returnFocus': undefined
}
