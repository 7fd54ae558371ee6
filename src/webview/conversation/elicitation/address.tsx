import { describeUrl } from '../../../conversation/described-url.ts'
import { t } from '../../l10n.ts'
import { urlWarningText } from '../../tools/links.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'

/** A whole address with its host set apart, and what there is to know before it is opened. */
export function Address({ url }: { url: string }) {
  const { host } = useApp()
  const reported = describeUrl(url)
  return (
    <div class="address">
      <div class="address-box">
        <div class="address-text" dir="ltr">
          {reported ? (
            <>
              {reported.before}
              <strong class="address-host">{reported.host}</strong>
              {reported.after}
            </>
          ) : (
            url
          )}
        </div>
        <IconButton
          icon="copy"
          label={t('Copy URL')}
          onClick={() => host.send('conversation/copy', { text: url })}
        />
      </div>
      {reported?.warnings.map(warning => (
        <Warning key={warning} text={urlWarningText(warning)} />
      ))}
      {!reported?.canOpen && <Warning text={t('Only http and https links can be opened.')} />}
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
