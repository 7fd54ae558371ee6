/** How the page looks beyond what VS Code tells it. See `conversation.ts`. */
import { NotificationType } from 'vscode-jsonrpc'

/** webview → host: which theme the page is in, at first and whenever it changes */
export const ThemeShown = new NotificationType<{ themeId: string }>('appearance/theme')
/** host → webview: the theme's colors of code as `#rrggbb[aa]`, by kind of word; what is left out has a stand-in */
export const TokenColors = new NotificationType<Record<string, string>>('appearance/tokens')

/** host → webview: diffs side by side where there is room, or always one under the other */
export const DiffLayout = new NotificationType<{ sideBySide: boolean }>('appearance/diff')
/** webview → host: the person wants it otherwise, for good */
export const SetDiffLayout = new NotificationType<{ sideBySide: boolean }>('appearance/setDiff')
