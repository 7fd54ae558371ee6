import { isLoopback } from '../../common/is-loopback.ts'

/** The warnings that a user must see before opening a URL. */
export type UrlWarning =
  /** The connection isn't encrypted. */
  | 'http'
  /** The host name contains letters that can look like other letters. */
  | 'punycode'
  /** A user name before the host can be mistaken for the host. */
  | 'credentials'

interface DescribedUrl {
  /** the URL as browsers normalize it: `before + host + after` */
  before: string
  /** the host with its port, in ASCII */
  host: string
  after: string
  warnings: UrlWarning[]
  /** only `http` and `https` URLs are ever opened */
  canOpen: boolean
}

/** Returns the parts and warnings of a URL; `undefined` if the URL is invalid. */
export function describeUrl(text: string): DescribedUrl | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const { href, host, protocol, username, password } = url
  const authority = href.indexOf('//') + 2
  const credentials = username !== '' || password !== ''
  const at = host === '' ? -1 : href.indexOf(host, credentials ? href.indexOf('@', authority) + 1 : authority)
  const canOpen = (protocol === 'https:' || protocol === 'http:') && at >= 0
  const warnings: UrlWarning[] = []
  // others can't read a connection to this machine itself
  const { hostname } = url
  const isLocal = isLoopback(hostname) || hostname.endsWith('.localhost')
  if (protocol === 'http:' && !isLocal) warnings.push('http')
  if (url.hostname.split('.').some(label => label.startsWith('xn--'))) warnings.push('punycode')
  if (credentials) warnings.push('credentials')
  if (at < 0) return { before: href, host: '', after: '', warnings, canOpen }
  return { before: href.slice(0, at), host, after: href.slice(at + host.length), warnings, canOpen }
}
