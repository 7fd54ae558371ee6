import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import * as l10n from '@vscode/l10n'
import { isLoopback } from '../../common/is-loopback.ts'

const MAX_REDIRECTS = 10
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** A server redirected a request to a URL that isn't allowed. The message is a sentence for the user. */
export class RedirectError extends Error {}

/**
 * Like `fetch`, but checks the URL of each redirect to another server before requesting it: the URL must be encrypted, and must not lead
 * from the internet to this machine or its network. A request's body and credentials aren't sent to another server.
 */
export async function secureFetch(
  fetchOnce: typeof fetch,
  address: string,
  init: RequestInit = {},
): Promise<Response> {
  let url = new URL(address)
  const { origin, hostname } = url
  const isLocal = isLocalHost(hostname)
  let request = init
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetchOnce(url.href, { ...request, redirect: 'manual' })
    const location = response.headers.get('location')
    if (!REDIRECTS.has(response.status) || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, url)) throw refused(location)
    url = new URL(location, url)
    // Like browsers, changes the method of these redirects to GET.
    if (response.status === 303 || (response.status < 303 && request.method === 'POST')) {
      const { body: _body, ...rest } = request
      request = { ...rest, method: 'GET' }
    }
    if (url.origin === origin) continue
    const isAllowed = isWebAddress(url.href) && (isLocal || !isLocalHost(url.hostname))
    if (!isAllowed || (request.body ?? null) !== null) throw refused(url.origin)
  }
  throw new RedirectError(l10n.t('The server redirects too many times.'))
}

function refused(target: string): RedirectError {
  return new RedirectError(l10n.t("The server redirects to an address that isn't allowed: {0}", target))
}

/** Whether a URL uses HTTPS, or HTTP to this machine, and contains no user name or password. */
export function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, username, password } = new URL(value)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/**
 * The IPv4 addresses of this machine, of private networks, and of no single machine on the internet. 198.18.0.0/15 isn't included, because
 * some proxies on this machine answer with these addresses for every name.
 */
const local4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const)
  local4.addSubnet(network, prefix, 'ipv4')
// A separate list, because each IPv4 address would also match the subnet of mapped addresses.
const local6 = new BlockList()
for (const [network, prefix] of [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  local6.addSubnet(network, prefix, 'ipv6')

/** Whether the host of a URL is this machine or in a private network, according to its name. */
function isLocalHost(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(name) !== 0) return isLocalIp(name)
  return (
    !name.includes('.') ||
    /\.(?:localhost|localdomain|local|internal|intranet|lan|home|corp|home\.arpa)$/i.test(name)
  )
}

function isLocalIp(address: string): boolean {
  return isIP(address) === 6 ? local6.check(address, 'ipv6') : local4.check(address, 'ipv4')
}

/**
 * Whether a host is this machine or in a private network, or has a name that resolves to an address there. A name that doesn't resolve,
 * because perhaps only a proxy can resolve it, doesn't count.
 */
export async function leadsToLocalHost(hostname: string): Promise<boolean> {
  if (isLocalHost(hostname)) return true
  const found = await lookup(hostname, { all: true }).catch(() => [])
  return found.some(({ address }) => isLocalIp(address))
}
