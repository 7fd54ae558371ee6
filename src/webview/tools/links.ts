import { visible } from '../../common/visible.ts'
import { describeUrl, type UrlWarning } from '../../conversation/requests/described-url.ts'
import { t } from '../l10n.ts'

interface LinkTarget {
  /** the full target and warnings, one per line */
  title: string
  /** The host to show next to the link, if the link's text could be mistaken for a different host. */
  host?: string
}

/** Describes the target of a link with this text. */
export function linkTarget(href: string, text: string): LinkTarget {
  const url = describeUrl(href)
  if (!url?.canOpen) return { title: visible(href) }
  const warnings = url.warnings.map(urlWarningText)
  const title = [url.host, `${url.before}${url.host}${url.after}`, ...warnings].join('\n')
  const named = hostIn(text)
  const misleads =
    url.warnings.some(warning => warning !== 'http') || (named !== undefined && named !== bareHost(url.host))
  return misleads ? { title, host: url.host } : { title }
}

export function urlWarningText(warning: UrlWarning): string {
  switch (warning) {
    case 'http':
      return t("This connection isn't encrypted. Others can read what you send.")
    case 'punycode':
      return t('The host name uses look-alike characters from other alphabets.')
    case 'credentials':
      return t('This URL contains a user name. Check the host name before opening.')
  }
}

/** Returns the host in a text: of a URL in the text, or of a text that is only a host and a path. */
function hostIn(text: string): string | undefined {
  const found =
    /[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#@]*@)?([^\s/?#:]+)/iu.exec(text) ??
    /(?<![^\s(<"'])(www\.[^\s/?#:]+)/iu.exec(text) ??
    /^\s*((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[/?#:]\S*)?\s*$/u.exec(text)
  return found?.[1] && bareHost(found[1])
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/:\d+$/, '')
}
