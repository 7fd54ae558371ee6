import * as l10n from '@vscode/l10n'

/** The cause of a network error in a few words, and a sentence of advice. */
interface NetworkProblem {
  reason: string
  advice: string
}

/** Why a request failed. `detail`: the message of the system or the server, for the log. */
export interface RequestProblem extends NetworkProblem {
  detail: string
}

type Kind =
  | 'offline'
  | 'name'
  | 'refused'
  | 'interrupted'
  | 'timeout'
  | 'proxy'
  | 'untrusted'
  | 'expired'
  | 'other-name'

/** Error codes of Node and its `fetch`, and of Chromium's network stack, which VS Code may use instead. */
const KINDS: Readonly<Record<Kind, readonly string[]>> = {
  offline: [
    ...['ENETUNREACH', 'ENETDOWN', 'EHOSTUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL'],
    ...['ERR_INTERNET_DISCONNECTED', 'ERR_ADDRESS_UNREACHABLE', 'ERR_NETWORK_CHANGED'],
  ],
  name: ['ENOTFOUND', 'EAI_AGAIN', 'ERR_NAME_NOT_RESOLVED', 'ERR_NAME_RESOLUTION_FAILED'],
  refused: ['ECONNREFUSED', 'ERR_CONNECTION_REFUSED'],
  interrupted: [
    ...['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET'],
    ...['ERR_CONNECTION_RESET', 'ERR_CONNECTION_CLOSED', 'ERR_CONNECTION_ABORTED', 'ERR_EMPTY_RESPONSE'],
  ],
  timeout: [
    ...['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
    ...['ERR_TIMED_OUT', 'ERR_CONNECTION_TIMED_OUT', 'ERR_SOCKET_TIMEOUT', 'TimeoutError'],
  ],
  proxy: ['ERR_PROXY_CONNECTION_FAILED', 'ERR_TUNNEL_CONNECTION_FAILED', 'ERR_PROXY_AUTH_UNSUPPORTED'],
  untrusted: [
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
    ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_UNTRUSTED'],
    ...['ERR_CERT_AUTHORITY_INVALID', 'ERR_CERT_INVALID'],
  ],
  expired: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_CERT_DATE_INVALID'],
  'other-name': ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_CERT_COMMON_NAME_INVALID'],
}

/**
 * The message of an error of VS Code's proxy support, which has no code. In older versions, the message contains the user's password for
 * the proxy.
 */
const NO_PROXY_CONNECTION = /^Failed to establish a socket connection to proxies\b/

/** Why a request to this address failed. */
export function networkProblem(error: unknown, address: string): RequestProblem {
  return { ...problemOfError(error, address), detail: describeCauses(error, address) }
}

function problemOfError(error: unknown, address: string): NetworkProblem {
  // the innermost cause is the most specific
  const errors = errorChain(error).toReversed()
  const proxyStatus = errors
    .map(({ message }) => /^Proxy response \((\d+)\)/.exec(message)?.[1])
    .find(Boolean)
  if (proxyStatus !== undefined) return problemOfProxy(Number(proxyStatus), address)
  if (errors.some(({ message }) => NO_PROXY_CONNECTION.test(message)))
    return describeProblem('proxy', address)
  const kinds = errors.flatMap(({ code, name, message }) =>
    [code, /\bnet::(ERR_\w+)/.exec(message)?.[1], name].map(problemKind),
  )
  return describeProblem(
    kinds.find(kind => kind !== undefined),
    address,
  )
}

/** Why a proxy didn't let a request through to the server with this address, by the HTTP status of its response. */
export function proxyProblem(status: number, address: string): RequestProblem {
  const detail = `status ${status} from the proxy (${withoutSecrets(address)})`
  return { ...problemOfProxy(status, address), detail }
}

function problemOfProxy(status: number, address: string): NetworkProblem {
  return status === 407 ? problemOfStatus(407) : describeProblem('proxy', address)
}

/** Why a request failed, by the HTTP status of the server's response. */
export function statusProblem(status: number, address: string): RequestProblem {
  return { ...problemOfStatus(status), detail: `status ${status} from ${withoutSecrets(address)}` }
}

function problemOfStatus(status: number): NetworkProblem {
  const advice = l10n.t('Check the network connection and the proxy settings.')
  const later = l10n.t('Try again later.')
  switch (status) {
    case 401:
    case 403:
      return { reason: l10n.t('the server denied access (status {0})', status), advice }
    case 404:
    case 410:
      return {
        reason: l10n.t("the server doesn't have the file (status {0})", status),
        advice: l10n.t('Check that the URL is still correct.'),
      }
    case 407:
      return {
        reason: l10n.t('the proxy requires you to sign in (status {0})', status),
        advice: l10n.t('Check the proxy settings.'),
      }
    case 429:
      return { reason: l10n.t('the server received too many requests (status {0})', status), advice: later }
  }
  if (status >= 500) return { reason: l10n.t('the server has a problem (status {0})', status), advice: later }
  return { reason: l10n.t('the server responded with status {0}', status), advice }
}

function describeCauses(error: unknown, address: string): string {
  const causes = errorChain(error).map(({ name, code, message }) =>
    [code ?? name, NO_PROXY_CONNECTION.test(message) ? message.replace(/\S+@/g, '') : message]
      .filter(Boolean)
      .join(': '),
  )
  return `${causes.join(' < ') || String(error)} (${withoutSecrets(address)})`
}

/** The address without its user name, password and query, since these may contain secrets. */
function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return ''
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** The network problem that npm's or uv's output mentions, if any; npm also has codes, see {@link problemKind}. */
export function networkProblemOfOutput(output: string): NetworkProblem | undefined {
  const npm = problemKind(/\bnpm (?:error|ERR!) code (\w+)/.exec(output)?.[1])
  const kind = npm ?? UV.find(([pattern]) => pattern.test(output))?.[1]
  if (kind === undefined) return undefined
  const address = /\bhttps?:\/\/[^\s)`'"]+/.exec(output)?.[0]
  return address === undefined ? undefined : describeProblem(kind, address)
}

/** Messages of uv's libraries, since uv has no error codes. */
const UV: ReadonlyArray<[RegExp, Kind]> = [
  [/\binvalid peer certificate: Expired\b/i, 'expired'],
  [/\binvalid peer certificate: NotValidForName\b/i, 'other-name'],
  [/\binvalid peer certificate\b/i, 'untrusted'],
  [/\bdns error\b|failed to lookup address/i, 'name'],
  [/\bConnection refused\b/i, 'refused'],
  [/\bNetwork is unreachable\b|\bNo route to host\b/i, 'offline'],
  [/\boperation timed out\b/i, 'timeout'],
  [/\bConnection reset\b|\bconnection closed before\b/i, 'interrupted'],
]

function describeProblem(kind: Kind | undefined, address: string): NetworkProblem {
  const server = URL.canParse(address) ? new URL(address).host : ''
  const connection = l10n.t('Check the network connection and the proxy settings.')
  switch (kind) {
    case 'offline':
      return { reason: l10n.t('there is no network connection'), advice: connection }
    case 'name':
      return { reason: l10n.t("the server {0} wasn't found", server), advice: connection }
    case 'refused':
      return { reason: l10n.t('the server {0} refused the connection', server), advice: connection }
    case 'interrupted':
      return { reason: l10n.t('the connection was interrupted'), advice: connection }
    case 'timeout':
      return { reason: l10n.t("the server {0} didn't respond in time", server), advice: connection }
    case 'proxy':
      return {
        reason: l10n.t("the proxy doesn't connect to the server {0}", server),
        advice: l10n.t('Check the proxy settings.'),
      }
    case 'untrusted':
      return {
        reason: l10n.t("the server's certificate isn't trusted"),
        advice: l10n.t(
          "If your network uses a custom certificate, add it to your system's certificate store.",
        ),
      }
    case 'expired':
      return {
        reason: l10n.t("the server's certificate has expired or isn't valid yet"),
        advice: l10n.t('Check the date and time of your machine.'),
      }
    case 'other-name':
      return {
        reason: l10n.t("the server's certificate is for a different server"),
        advice: connection,
      }
    case undefined:
      return { reason: l10n.t("the server {0} couldn't be reached", server), advice: connection }
  }
}

function problemKind(code: string | undefined): Kind | undefined {
  if (code === undefined) return undefined
  return (Object.keys(KINDS) as Kind[]).find(kind => KINDS[kind].includes(code))
}

/** The error and its causes, since only the causes of a `fetch` error describe the failure. */
function errorChain(error: unknown): NodeJS.ErrnoException[] {
  const chain: NodeJS.ErrnoException[] = []
  for (let one = error; one instanceof Error && chain.length < 5; one = one.cause) chain.push(one)
  return chain
}
