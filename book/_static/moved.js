// Leads on from places of this page that have moved to another page.
{
  const moved = JSON.parse(document.getElementById("moved-places").textContent);
  const lead = () => {
    const there = moved[decodeURIComponent(location.hash.slice(1))];
    if (there) location.replace(there);
  };
  addEventListener("hashchange", lead);
  lead();
}
