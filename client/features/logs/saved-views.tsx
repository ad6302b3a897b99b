import { Button } from '@chakra-ui/react'
import { Bookmark, BookmarkPlus, Trash } from 'lucide-react'
import { useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { ActionMenu } from '../../components/action-menu.tsx'
import { SaveViewDialog } from './save-view-dialog.tsx'
import { t } from '../../i18n/t.ts'
import { perReader, readerKey } from '../../lib/reader-storage.ts'
import { useSession } from '../../lib/session.ts'
import { useStore } from '../../lib/store.ts'
import { createStoredJson } from '../../lib/stored.ts'

type View = { name: string; search: string }

/** A reader's own: names and filters may be those of their customers. */
const viewsOf = perReader((userId) => createStoredJson<View[]>(readerKey('log-views', userId), []))

/** An older console kept those of all readers as one: nobody knows whose they are. */
createStoredJson<null>('log-views', null).set(null)

/** What is part of a view of the log, and not of the moment. */
function viewOf(search: string): string {
  const query = new URLSearchParams(search)
  for (const name of ['page', 'after', 'open', 'size']) query.delete(name)
  return query.toString()
}

/** Filters and order under a name, kept in this browser for its reader. */
export function SavedViews() {
  const stored = viewsOf(useSession().user?.id ?? 0)
  const views = useStore(stored)
  const search = useSearch()
  const [path, navigate] = useLocation()
  const [naming, setNaming] = useState(false)
  const current = viewOf(search)
  const open = views.find((view) => view.search === current)
  const save = (name: string) => {
    stored.set([...views.filter((view) => view.name !== name), { name, search: current }])
    setNaming(false)
  }
  return (
    <>
      <ActionMenu
        label={t('已保存的视图')}
        trigger={(props) => (
          <Button variant="outline" fontWeight="normal" {...props}>
            <Bookmark aria-hidden />
            {open?.name ?? t('视图')}
          </Button>
        )}
        actions={[
          ...views.map((view) => ({
            id: `view-${view.name}`,
            label: view.name,
            checked: view === open,
            onSelect: () => navigate(view.search === '' ? path : `${path}?${view.search}`),
          })),
          {
            id: 'save',
            label: t('保存当前视图'),
            icon: BookmarkPlus,
            separated: views.length > 0,
            onSelect: () => setNaming(true),
          },
          {
            id: 'delete',
            label: t('删除视图 {name}', { name: open?.name ?? '' }),
            icon: Trash,
            danger: true,
            hidden: open === undefined,
            onSelect: () => stored.set(views.filter((view) => view !== open)),
          },
        ]}
      />
      {naming && <SaveViewDialog onSave={save} onClose={() => setNaming(false)} />}
    </>
  )
}
