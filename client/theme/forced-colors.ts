const picked = {
  outline: '2px solid Highlight !important',
  outlineOffset: '-2px !important',
  // What has the focus besides.
  '&:focus-visible': { outlineStyle: 'double !important', outlineWidth: '6px !important' },
}
const filled = { forcedColorAdjust: 'none', backgroundColor: 'Highlight !important' }
const framed = { border: '1px solid CanvasText !important' }

/**
 * Where the system forces the reader's own colours on pages, as Windows does in its contrast themes, backgrounds and shadows are gone:
 * what one of them alone shows needs an edge, or a colour of the system's.
 */
export const forcedColors = {
  '@media (forced-colors: active)': {
    '[data-scope=switch][data-part=control]': {
      ...framed,
      forcedColorAdjust: 'none',
      backgroundColor: 'Canvas !important',
    },
    '[data-scope=switch][data-part=thumb]': { margin: '-1px', backgroundColor: 'CanvasText !important' },
    '[data-scope=switch][data-part=control][data-state=checked]': filled,
    '[data-scope=switch][data-part=thumb][data-state=checked]': { backgroundColor: 'HighlightText !important' },
    '[data-scope=segment-group][data-part=item][data-state=checked]': picked,
    '[data-scope=tabs][data-part=trigger][data-selected], button[aria-pressed=true]': picked,
    'a[aria-current=page], tr[aria-current=true], [role][data-highlighted]': picked,
    // Of the palette; in other lists a tick stands beside what is chosen.
    '[role=option][aria-selected=true]:not([data-scope])': picked,
    '[data-scope=radio-group] .dot': { forcedColorAdjust: 'none', backgroundColor: 'CanvasText !important' },
    'tbody tr:focus-visible': { outline: '2px solid CanvasText !important', outlineOffset: '-2px !important' },
    '[role=meter], [role=progressbar]': framed,
    '[role=meter] > *, [role=progressbar] > *': filled,
    '[data-scope=toast] > *': framed,
    '[data-part=content]:is([data-scope=dialog], [data-scope=menu], [data-scope=popover], [data-scope=combobox])':
      framed,
  },
}
