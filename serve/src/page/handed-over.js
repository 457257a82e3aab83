// The data of the report in this frame: the page around it has asked for them.
"use strict";
{
  const { overview, parts } = parent.fpdbReport;
  const hold = (id, text) => {
    const holder = document.createElement("div");
    holder.id = id;
    holder.hidden = true;
    holder.append(text);
    document.body.append(holder);
  };
  hold("overview", JSON.stringify(overview));
  for (const [name, part] of Object.entries(parts)) hold(name, part);
}
