import { text } from './contribution.ts'

/** Views, colors, and other contributions that VS Code needs before Parley runs. */
export const views = {
  mcpServerDefinitionProviders: [
    { id: 'parley.editorTools', label: text('mcp.editorTools', 'Parley Editor Tools') },
  ],
  viewsContainers: { activitybar: [{ id: 'parley', title: 'Parley', icon: 'media/parley.svg' }] },
  views: {
    parley: [
      {
        id: 'parley.conversation',
        name: 'Parley',
        type: 'webview',
        icon: 'media/parley.svg',
        contextualTitle: 'Parley',
      },
    ],
    explorer: [
      {
        id: 'parley.review',
        name: text('views.review', 'Agent Changes'),
        icon: 'media/parley.svg',
        contextualTitle: 'Parley',
        when: 'parley.reviewOpen',
      },
    ],
  },
  configurationDefaults: {
    'diffEditor.codeLens': true,
    'remote.portsAttributes': { '29200-29499': { label: 'Parley', onAutoForward: 'ignore' } },
  },
  colors: [
    {
      id: 'parley.readLineBackground',
      description: text('colors.readLineBackground', 'Background of lines that an agent reads.'),
      defaults: {
        dark: 'editor.rangeHighlightBackground',
        light: 'editor.rangeHighlightBackground',
        highContrast: '#00000000',
        highContrastLight: '#00000000',
      },
    },
    {
      id: 'parley.readLineBorder',
      description: text(
        'colors.readLineBorder',
        'Color of the bar next to lines that an agent reads, and of their mark in the scroll bar.',
      ),
      defaults: {
        dark: 'charts.blue',
        light: 'charts.blue',
        highContrast: 'charts.blue',
        highContrastLight: 'charts.blue',
      },
    },
    {
      id: 'parley.editedLineBackground',
      description: text('colors.editedLineBackground', 'Background of lines that an agent edits.'),
      defaults: {
        dark: 'diffEditor.insertedLineBackground',
        light: 'diffEditor.insertedLineBackground',
        highContrast: '#00000000',
        highContrastLight: '#00000000',
      },
    },
    {
      id: 'parley.editedLineBorder',
      description: text(
        'colors.editedLineBorder',
        'Color of the bar next to lines that an agent edits, and of their mark in the scroll bar.',
      ),
      defaults: {
        dark: 'charts.green',
        light: 'charts.green',
        highContrast: 'charts.green',
        highContrastLight: 'charts.green',
      },
    },
  ],
  jsonValidation: [{ fileMatch: '.mcp.json', url: './media/mcp.schema.json' }],
}
