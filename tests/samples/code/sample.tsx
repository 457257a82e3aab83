import React from 'react';

type QProps = { qtitle: string; qitems?: number[] };

// REMARK: a list with a title
export function QList({ qtitle, qitems = [] }: QProps) {
  const qdouble = qitems.map((qitem) => qitem * 2);
  return (
    <section className="list">
      <h1>Title of it</h1>
      {qdouble.map((qitem) => (
        <li key={qitem}>{qtitle}</li>
      ))}
    </section>
  );
}
