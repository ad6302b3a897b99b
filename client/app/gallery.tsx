import { Page } from '../components/page.tsx'
import { UrlTabs } from '../components/url-tabs.tsx'
import { CellsSample } from './gallery/cells-sample.tsx'
import { DisplaySample } from './gallery/display-sample.tsx'
import { FormSample } from './gallery/form-sample.tsx'
import { TableSample } from './gallery/table-sample.tsx'

/** Every building block once, to look at and to test. */
export function Gallery() {
  return (
    <Page title="Gallery" description="Every building block once, in both themes and languages." fill>
      <UrlTabs
        label="Samples"
        tabs={[
          { id: 'table', label: 'Table', content: <TableSample /> },
          { id: 'cells', label: 'Cells', content: <CellsSample /> },
          { id: 'display', label: 'Display', content: <DisplaySample /> },
          { id: 'form', label: 'Form', content: <FormSample /> },
        ]}
      />
    </Page>
  )
}
