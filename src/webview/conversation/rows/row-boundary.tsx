import { Component, type ComponentChildren } from 'preact'
import { t } from '../../l10n.ts'

/** Keeps one entry that can't be drawn from taking the whole conversation with it. */
export class RowBoundary extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render() {
    if (this.state.hasFailed) return <div class="quiet">{t("This entry can't be displayed.")}</div>
    return this.props.children
  }
}
