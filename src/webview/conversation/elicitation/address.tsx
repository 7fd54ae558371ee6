import { describeUrl, type UrlWarning } from '../../../conversation/elicitation-url.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'

/** A whole address with its host set apart, and what there is to know before it is opened. */
export function Address({ url }: { url: string }) {
  const { host } = useApp()
  const told = describeUrl(url)
  return (
    <div class="address">
      <div class="address-box">
        <div class="address-text" dir="ltr">
          {told ? (
            <>
              {told.before}
              <strong class="address-host">{told.host}</strong>
              {told.after}
            </>
          ) : (
            url
          )}
        </div>
        <IconButton icon="copy" label={t('Copy Address')} onClick={() => host.copy(url)} />
      </div>
      {told?.warnings.map(warning => (
        <Warning key={warning} text={warningText(warning)} />
      ))}
      {!told?.canOpen && <Warning text={t('Only addresses of the web are opened.')} />}
    </div>
  )
}

function Warning({ text }: { text: string }) {
  return (
    <div class="address-warning" role="note">
      <Icon name="warning" />
      <span>{text}</span>
    </div>
  )
}

function warningText(warning: UrlWarning): string {
  switch (warning) {
    case 'http':
      return t('The connection is not encrypted: others can read what you send.')
    case 'punycode':
      return t('The name has letters of other alphabets, which can look like another name.')
    case 'credentials':
      return t('The address begins with a user’s name. Look at the host alone.')
  }
}
