import * as z from 'zod'
import { parseTimestamp } from '../../common/timestamp.ts'
import type { AuthStatus, Provider, SessionInfo } from '../model.ts'
import { given } from './content.ts'
import { anything, isRecord, maybe, maybeFlag, maybeText, type Report, readList } from './lenient.ts'

export const sessionInfoSchema = z.object({
  sessionId: z.string().min(1),
  cwd: maybeText,
  additionalDirectories: maybe(z.array(z.string())),
  title: maybeText,
  updatedAt: anything,
  archived: maybeFlag,
})

/** A page of `session/list`. The cursor is left out when it is the one just used: it would be asked for forever. */
export function readSessionPage(raw: unknown, cursor: string | undefined, report: Report) {
  const page = isRecord(raw) ? raw : {}
  const sessions = readList(page.sessions, readSessionInfo, report, 'sessions')
  const next = page.nextCursor
  const more = typeof next === 'string' && next !== '' && next !== cursor
  return { sessions, ...(more ? { nextCursor: next } : {}) }
}

function readSessionInfo(raw: unknown): SessionInfo | undefined {
  const wire = sessionInfoSchema.safeParse(raw).data
  if (!wire) return undefined
  return {
    sessionId: wire.sessionId,
    cwd: wire.cwd ?? '',
    additionalDirectories: wire.additionalDirectories ?? [],
    ...given('title', wire.title?.trim() || undefined),
    ...given('updatedAt', parseTimestamp(wire.updatedAt)),
    ...given('archived', wire.archived),
  }
}

export const authStatusSchema = z.object({ state: z.string(), accounts: anything })
export const accountSchema = z.object({
  label: z.string(),
  active: maybeFlag,
  name: maybeText,
  email: maybeText,
  organization: maybeText,
})

/** `auth/status` and `auth/status_update`; `undefined` when it says no state. */
export function readAuthStatus(raw: unknown, report: Report): AuthStatus | undefined {
  const wire = authStatusSchema.safeParse(raw).data
  return wire && { state: wire.state, accounts: readList(wire.accounts, readAccount, report, 'accounts') }
}

function readAccount(raw: unknown): AuthStatus['accounts'][number] | undefined {
  const account = accountSchema.safeParse(raw).data
  return (
    account && {
      label: account.label,
      ...given('active', account.active),
      ...given('name', account.name),
      ...given('email', account.email),
      ...given('organization', account.organization),
    }
  )
}

export const providerSchema = z.object({
  providerId: z.string(),
  supported: anything,
  required: maybeFlag,
  current: maybe(z.object({ apiType: z.string(), baseUrl: z.string() })),
})

export function readProviders(raw: unknown, report: Report): Provider[] {
  return readList(isRecord(raw) ? raw.providers : undefined, readProvider, report, 'providers')
}

function readProvider(raw: unknown): Provider | undefined {
  const wire = providerSchema.safeParse(raw).data
  if (!wire) return undefined
  const { supported } = wire
  return {
    providerId: wire.providerId,
    supported: Array.isArray(supported) ? supported.filter(api => typeof api === 'string') : [],
    required: wire.required === true,
    ...given('current', wire.current),
  }
}
